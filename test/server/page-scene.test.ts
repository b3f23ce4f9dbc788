import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { startServer, type RunningServer } from '../../server/serve.ts';
import { hasBrowser, openBrowserThatAsks, type TestBrowser } from '../fakes/browser.ts';

/** Where to leave screenshots, for a person to look at; nowhere unless asked. */
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

describe.skipIf(!hasBrowser('a scene in the page'))(
  'a scene in the page, to which somebody listens who also talks',
  () => {
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

    it('is spoken turn after turn, shows who speaks and what they do, and is not interrupted', async () => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(server.url);
      await page.click('#characters >> text=Supper on the Nautilus');
      await page.click('#talk');
      const spoken = page.locator('#transcript li[data-speaker][data-status="done"]');
      await spoken.nth(3).waitFor({ timeout: 90_000 });
      if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, 'scene.png') });
      const who = await spoken.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-speaker')));
      expect(who.slice(0, 4)).toEqual(['environment', 'captain-nemo', 'queen-elizabeth-i', 'd-artagnan']);
      expect(await spoken.nth(3).locator('.who').textContent()).toMatch(/artagnan/i);
      expect(await spoken.nth(1).innerText()).toContain('fills the glasses');
      expect(await spoken.nth(2).innerText()).not.toContain('gaoler');
      expect(await page.locator('#transcript li[data-status="interrupted"]').count()).toBe(0);
      await page.close();
    }, 120_000);
  },
);
