import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCard } from '../../../characters/tavern/card-file.ts';
import { writeCardBytes } from '../../../characters/tavern/open-card.ts';
import { cards } from '../../characters/tavern-cards.ts';
import { hasBrowser, openBrowser, type TestBrowser } from '../../fakes/network/browser.ts';
import { serveCharacters } from '../../rigs/characters-rig.ts';
import { keep } from '../../rigs/page-rig.ts';

describe.skipIf(!hasBrowser('the cast of the page'))('character list', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  it('asks for a character, offers a search in a long list and shows pictures', async () => {
    const { server, bringIn } = await serveCharacters();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(15_000);
    await page.goto(server.url);
    await page.locator('#characters button').first().waitFor();
    expect(await page.locator('#find').isVisible()).toBe(false);
    await page.fill('#text', 'Is anybody there?');
    await page.click('#send');
    await page.locator('#message >> text=Choose a character first').waitFor();
    expect(await page.locator('#talk-hint').innerText()).toBe('choose a character first');

    const card = readCard(cards['V3, every field'], 'mara');
    const png = Buffer.from(writeCardBytes({ card, files: new Map() }, 'png', 'v3'));
    for (let count = 0; count < 4; count += 1) await bringIn(png, '?as=copy');
    await page.reload();
    await page.fill('#find', ' mara ');
    expect(await page.locator('#characters li:visible').count()).toBe(4);
    await page.locator('#characters li:visible').first().click();
    await page.locator('#portrait img').waitFor();
    await page.locator('#characters li:visible img').nth(3).waitFor();
    await keep(page, 'cast-list');
    expect(new URL((await page.locator('#edit').getAttribute('href')) ?? '', server.url).hash).toBe('#old-mara');
    await page.click('#edit');
    await page.locator('#card [name="tagline"]').waitFor();
    expect(await page.locator('#name').innerText()).toBe('Old Mara');
    await page.close();
  }, 60_000);

  it('loads only the pictures in view', async () => {
    const { server, bringIn } = await serveCharacters();
    const card = readCard(cards['V3, every field'], 'mara');
    const png = Buffer.from(writeCardBytes({ card, files: new Map() }, 'png', 'v3'));
    for (let count = 0; count < 6; count += 1) await bringIn(png, '?as=copy');
    const page = await browser.newPage({ viewport: { width: 1280, height: 320 } });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/picture')) asked.push(request.url());
    });
    await page.goto(`${server.url}/#alice`);
    await page.locator('#characters button').first().waitFor();
    await page.locator('#characters li').first().scrollIntoViewIfNeeded();
    await page.locator('#characters li:first-child img').waitFor();
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(6);
    await page.close();
  }, 60_000);

  it('shows feelings as chips with numbers for screen readers', async () => {
    const { server } = await serveCharacters();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(15_000);
    await page.goto(`${server.url}/#alice`);
    await page.fill('#text', 'My friend is dead! You are a liar and a fool! Shut up!');
    await page.click('#send');
    const chip = page.locator('#transcript .feelings .feeling').first();
    await chip.waitFor();
    await keep(page, 'cast-mood');
    expect(await page.locator('#transcript .feelings').innerText()).toMatch(/^Emotion:[\s\S]*anger\s*\d of 10\./);
    expect(await chip.evaluate((element) => getComputedStyle(element).getPropertyValue('--share'))).toMatch(
      /^0\.[2-9]$/,
    );
    await page.close();
  }, 60_000);

  it('reports that a character was deleted in the meantime', async () => {
    const { server, bringIn, ask } = await serveCharacters();
    await bringIn(JSON.stringify(cards['V3, every field']));
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    page.setDefaultTimeout(15_000);
    await page.goto(server.url);
    await page.click('#characters >> text=Old Mara');
    await ask('/characters/old-mara', { method: 'DELETE' });
    await page.fill('#text', 'Good evening.');
    await page.click('#send');
    await page.locator('#message >> text=no longer exists').waitFor();
    expect(await page.locator('#text').inputValue()).toBe('Good evening.');
    await page.click('#change');
    expect(await page.locator('#characters').innerText()).not.toContain('Old Mara');
    await page.close();
  }, 60_000);
});
