import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';

describe.skipIf(!hasBrowser('the accessibility of the page'))('accessibility of the page', () => {
  const pages = servePages({ flags: { memory: true } });

  async function open(options: Parameters<typeof pages.browser.newPage>[0], hash = ''): Promise<Page> {
    const page = await pages.browser.newPage(options);
    page.setDefaultTimeout(60_000);
    await page.goto(`${pages.server.url}/${hash}`);
    await page.locator('#characters .card').first().waitFor({ state: 'attached' });
    await page.locator('#llm-open:not([hidden])').waitFor();
    return page;
  }

  it('has a conversation only by keyboard, in an order that follows the page', async () => {
    const page = await open({ viewport: { width: 1280, height: 800 } });
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || '');
    const tabTo = async (wanted: string) => {
      const seen: string[] = [];
      const isThere = () => seen.at(-1) === wanted || (wanted.includes(' ') && seen.at(-1)?.includes(wanted) === true);
      while (!isThere() && seen.length < 60) {
        await page.keyboard.press('Tab');
        seen.push(await focused());
        const ring = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
        expect(ring, `focus ring of ${seen.at(-1)}`).not.toBe('none');
      }
      expect(isThere(), `${wanted} after ${seen.join(', ')}`).toBe(true);
    };
    await tabTo('llm-open');
    await page.keyboard.press('Enter');
    await page.locator('#llm[open]').waitFor();
    await tabTo('llm-url');
    await page.keyboard.press('Escape');
    await page.locator('#llm:not([open])').waitFor({ state: 'attached' });
    expect(await focused()).toBe('llm-open');
    await tabTo('Sherlock Holmes');
    await page.keyboard.press('Enter');
    await tabTo('Do you play the violin?');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('transcript');
    await page.locator('#transcript li[data-role="character"][data-status="done"]').waitFor();
    await tabTo('text');
    await page.keyboard.type('Who are you?');
    await page.keyboard.press('Enter');
    await page.locator('#transcript li[data-role="character"][data-status="done"]').nth(1).waitFor();
    await tabTo('end');
    await page.keyboard.press('Enter');
    await page.locator('html[data-state="idle"]').waitFor();
    expect(await focused()).toBe('talk');
    await page.close();
  }, 120_000);

  it('shifts nothing while the page loads, and shows when it can be used', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(() => {
      const seen = { shift: 0, usableMs: 0 };
      Object.assign(globalThis, { seen });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
      }).observe({ type: 'layout-shift', buffered: true });
      new MutationObserver((_, observer) => {
        if (document.querySelector('.suggestion button') === null) return;
        seen.usableMs = performance.now();
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(pages.server.url);
    await page.locator('#llm-open:not([hidden])').waitFor();
    const { shift, usableMs } = await page.evaluate(
      () => (globalThis as unknown as { seen: { shift: number; usableMs: number } }).seen,
    );
    console.info(`The page can be used after ${usableMs.toFixed(0)} ms; its layout shift is ${shift.toFixed(4)}.`);
    expect(shift).toBeLessThan(0.01);
    await page.close();
  }, 60_000);

  it('shows all tabs of the editor at a width of 1280 pixels', async () => {
    const page = await pages.browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${pages.server.url}/characters.html#alice`);
    await page.locator('[role="tab"]').last().waitFor();
    expect(await page.locator('[role="tab"]').count()).toBe(7);
    const hidden = await page.locator('.tabs').evaluate((tabs) => tabs.scrollWidth - tabs.clientWidth);
    expect(hidden).toBeLessThanOrEqual(0);
    await page.close();
  }, 60_000);

  it('moves nothing that is on the page when a conversation starts', async () => {
    const page = await open({ viewport: { width: 1280, height: 800 } }, '#alice');
    // In tenths of a pixel: text is laid out in units of 1/64, which nobody sees.
    const placeOf = async (selector: string) => {
      const { x, y, width, height } = (await page.locator(selector).boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      };
      return [x, y, width, height].map((length) => Math.round(length * 10));
    };
    const parts = ['#talk', '#text', '#portrait', '#name', '#llm-open', '#characters'];
    const before = await Promise.all(parts.map(placeOf));
    await page.fill('#text', 'Good evening.');
    await page.press('#text', 'Enter');
    await page.locator('#transcript li[data-role="character"]').waitFor();
    expect(await Promise.all(parts.map(placeOf))).toEqual(before);
    await page.close();
  }, 60_000);
});
