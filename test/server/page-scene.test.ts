import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { startServer, type RunningServer } from '../../server/serve.ts';
import { hasBrowser, openBrowserThatAsks, type TestBrowser } from '../fakes/browser.ts';

/** Where to leave screenshots, for a person to look at; nowhere unless asked. */
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

describe.skipIf(!hasBrowser('a scene in the page'))('a scene in the page', () => {
  let server: RunningServer;
  let browser: TestBrowser;

  beforeAll(async () => {
    server = await startServer(readConfig({ flags: { port: '0', logLevel: 'error' }, environment: {} }));
    browser = await openBrowserThatAsks(server);
  }, 60_000);

  afterAll(async () => {
    await server?.close();
    await browser?.close();
  });

  const keep = (page: Page, name: string) =>
    screenshots === undefined ? undefined : page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  const hintOf = (page: Page) => page.locator('#talk-hint').textContent();

  it('is spoken turn after turn, shows who speaks, what they do and think, and is not interrupted', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(server.url);
    await page.click('#characters >> text=Supper on the Nautilus');
    await keep(page, 'scene-prologue');
    await page.check('#thoughts');
    await page.click('#talk');
    const spoken = page.locator('#transcript li[data-speaker][data-status="done"]');
    await spoken.nth(2).waitFor({ timeout: 90_000 });
    await page.locator('#players [data-speaks="true"] >> text=d\'Artagnan').waitFor({ timeout: 20_000 });
    expect(await hintOf(page)).toBe('you listen · tap to pause');
    expect(await page.locator('#talk-status').textContent()).toMatch(/artagnan/i);
    await keep(page, 'scene');
    await spoken.nth(3).waitFor({ timeout: 30_000 });
    const who = await spoken.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-speaker')));
    expect(who.slice(0, 4)).toEqual(['environment', 'captain-nemo', 'queen-elizabeth-i', 'd-artagnan']);
    expect(await spoken.nth(3).locator('.who').textContent()).toMatch(/artagnan/i);
    expect(await spoken.nth(1).innerText()).toContain('fills the glasses');
    expect(await spoken.nth(2).locator('.thought').textContent()).toContain('gaoler');
    expect(await spoken.nth(2).locator('.words').textContent()).not.toContain('gaoler');
    expect(await page.locator('#transcript li[data-status="interrupted"]').count()).toBe(0);
    expect(await page.locator('#say').isVisible()).toBe(false);
    await page.click('#talk');
    await page.locator('#talk-hint >> text=tap to go on').waitFor();
    await page.click('#talk');
    await page.locator('#transcript li[data-speaker][data-status="partial"]').waitFor({ timeout: 20_000 });
    await page.close();
  }, 150_000);

  it('is one of its own on a phone: the person has a part, is told which, and thoughts stay thoughts', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 780 }, colorScheme: 'dark' });
    await page.goto(server.url);
    await page.click('#characters >> text=The Locked Garden');
    expect(await page.locator('#advice').textContent()).toContain('You are The host.');
    await page.click('#talk');
    const spoken = page.locator('#transcript li[data-speaker][data-status="done"]');
    await spoken.nth(1).waitFor({ timeout: 90_000 });
    await keep(page, 'scene-phone');
    expect(await page.locator('.thought').count()).toBe(0);
    expect(await page.locator('#say').isVisible()).toBe(true);
    await page.close();
  }, 120_000);
});
