import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';

describe.skipIf(!hasBrowser('the page under axe-core'))('pages under axe-core', () => {
  const pages = servePages({ flags: { memory: true } });

  /** What axe-core finds on the page as it is; transitions have ended. */
  async function findingsOn(page: Page, what: string): Promise<string[]> {
    const hasLoaded = await page.evaluate(() => 'axe' in globalThis);
    if (!hasLoaded) await page.evaluate(axe.source);
    const { violations } = await page.evaluate(async () => {
      const ending = document.getAnimations().filter((each) => each.effect?.getTiming().iterations === 1);
      await Promise.all(ending.map((each) => each.finished));
      const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
      return axe.run();
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${what}: ${id}: ${target.join(' ')}: ${failureSummary}`),
    );
  }

  it.each([
    ['light', 1280, 800],
    ['dark', 390, 844],
    // A window of 1280 pixels at a zoom of 200 %.
    ['light', 640, 400],
    // A phone on its side.
    ['dark', 844, 390],
  ] as const)(
    'finds nothing on the page, in a conversation and in its dialogs: %s, %i × %i',
    async (colorScheme, width, height) => {
      const page = await pages.browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
      page.setDefaultTimeout(60_000);
      await page.goto(pages.server.url);
      await page.locator('#llm-open:not([hidden])').waitFor();
      const found = await findingsOn(page, 'start');
      await page.click('#characters >> text=Alice');
      found.push(...(await findingsOn(page, 'character')));
      await page.locator('#openings .suggestion button').first().click();
      await page.locator('#transcript li[data-role="character"][data-status="done"]').waitFor();
      await page.locator('#transcript summary').first().click();
      found.push(...(await findingsOn(page, 'conversation')));
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await page.click('#settings-open');
      await page.locator('#models:not([hidden])').waitFor();
      found.push(...(await findingsOn(page, 'settings')));
      await page.click('#settings-llm');
      await page.locator('#llm-status:has-text(".")').waitFor();
      found.push(...(await findingsOn(page, 'LLM')));
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.click('#memories-open');
      found.push(...(await findingsOn(page, 'memories')));
      await page.goto(`${pages.server.url}/#scene:the-locked-garden`);
      await page.reload();
      await page.locator('#participants li').first().waitFor();
      found.push(...(await findingsOn(page, 'scene')));
      expect(found).toEqual([]);
      await page.close();
    },
    180_000,
  );

  it.each(['light', 'dark'] as const)(
    'finds nothing in the editor and its tabs: %s',
    async (colorScheme) => {
      const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
      page.setDefaultTimeout(60_000);
      await page.goto(`${pages.server.url}/characters.html`);
      await page.locator('#list button').first().waitFor();
      const found = await findingsOn(page, 'editor');
      await page.click('#list >> text=Alice');
      for (const tab of await page.locator('[role="tab"]').all()) {
        await tab.click();
        found.push(...(await findingsOn(page, (await tab.textContent()) ?? 'tab')));
      }
      expect(found).toEqual([]);
      await page.close();
    },
    180_000,
  );
});
