import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { keep, servePages } from '../../rigs/page-rig.ts';
import { hasBrowser } from '../../fakes/network/browser.ts';

describe.skipIf(!hasBrowser('rehearsals in the page'))('rehearsal', () => {
  const pages = servePages({ asks: 'once' });
  let page: Page;
  beforeAll(async () => {
    page = await pages.browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(30_000);
    await page.goto(`${pages.server.url}/characters.html#sherlock-holmes`);
    await page.click('#copy');
    await page.click('#question button:text-is("Copy")');
    await page.locator('#notice >> text=Copied').waitFor();
  }, 60_000);

  const replies = () => page.locator('#transcript li[data-role="character"][data-status="done"]');
  async function answer(text: string): Promise<string> {
    // The rows of the last conversation stay until the next one starts.
    const rows = page.locator('#transcript li');
    await rows.evaluateAll((all) => all.forEach((row) => row.setAttribute('data-earlier', '')));
    await page.fill('#text', text);
    await page.click('#send');
    const asked = page.locator(`#transcript li[data-role="user"]:not([data-earlier]):has-text("${text}")`).last();
    const reply = asked.locator('~ li[data-role="character"][data-status="done"]').first();
    await reply.waitFor({ timeout: 60_000 });
    return reply.innerText();
  }

  it('answers from the unsaved card and starts over when it changes', async () => {
    expect(await answer('What is the secret word?')).not.toContain('Xylophone');
    await page.click('[role=tab]:text-is("Lines")');
    await page.click('text=Add line');
    const panel = page.locator('#card [role=tabpanel]:not([hidden])');
    await panel.locator('[name="asks"]').last().fill('What is the secret word?');
    await panel.locator('[name="reply"]').last().fill('Xylophone, my dear fellow.');
    await page.locator('#message >> text=The card has changed').waitFor();
    expect(await answer('What is the secret word?')).toContain('Xylophone');
    expect(await replies().count()).toBe(1);
    await keep(page, 'rehearsal');
    expect(JSON.stringify(pages.server.characters.get('sherlock-holmes-2')?.lines)).not.toContain('Xylophone');
  }, 120_000);

  it('reports what to correct if the card cannot be played', async () => {
    await page.click('[role=tab]:text-is("Identity")');
    const field = page.locator('#card [name="name"]').first();
    const name = await field.inputValue();
    await field.fill('');
    await page.fill('#text', 'Hello?');
    await page.click('#send');
    await page.locator('#message >> text=The card has errors').waitFor();
    expect(await page.locator('#problems').innerText()).toContain('Name: This must not be empty.');
    await field.fill(name);
  }, 60_000);

  it('holds a spoken turn in the rehearsal', async () => {
    await page.click('#again');
    await page.click('#microphone');
    const heard = page.locator('#transcript li[data-role="user"][data-status="done"]').first();
    await heard.waitFor({ timeout: 60_000 });
    expect((await heard.innerText()).toLowerCase()).toContain('best friend');
    await heard.locator('~ li[data-role="character"][data-status="done"]').first().waitFor({ timeout: 60_000 });
    expect(await page.locator('#microphone').getAttribute('aria-pressed')).toBe('true');
    await page.click('#again');
    expect(await page.locator('#microphone').getAttribute('aria-pressed')).toBe('false');
  }, 120_000);
});
