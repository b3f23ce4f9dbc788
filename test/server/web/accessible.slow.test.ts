import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';

/** Findings on what is visible: controls without a name, broken references, repeated ids. */
function structureFindings(): string[] {
  const found: string[] = [];
  const isShown = (element: Element) =>
    element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) &&
    element.closest('[aria-hidden="true"], .unseen') === null;
  const dialog = document.querySelector('dialog[open]') ?? document.body;
  const all = [...dialog.querySelectorAll('*')].filter(isShown);
  const labelled = (element: Element): string => {
    const ids = element.getAttribute('aria-labelledby')?.split(' ') ?? [];
    const text = ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
    const labels = 'labels' in element ? [...((element.labels as NodeList | null) ?? [])] : [];
    const own = element.matches('button, a, summary') ? element.textContent : '';
    return [text, element.getAttribute('aria-label'), ...labels.map((label) => label.textContent), own]
      .join(' ')
      .trim();
  };
  const describeElement = (element: Element) =>
    `${element.localName}#${element.id}.${element.getAttribute('class') ?? ''}`;
  for (const element of all) {
    const isControl = element.matches('button, a[href], input, select, textarea, summary, [role="meter"], dialog');
    if (isControl && labelled(element) === '') found.push(`no name: ${describeElement(element)}`);
    if (element.matches('img:not([alt])')) found.push(`no alternative: ${describeElement(element)}`);
    for (const name of ['aria-labelledby', 'aria-describedby', 'for', 'list'])
      for (const id of element.getAttribute(name)?.split(' ') ?? [])
        if (document.getElementById(id) === null) found.push(`${name} leads nowhere: ${describeElement(element)}`);
    if (element.matches('[tabindex]') && Number(element.getAttribute('tabindex')) > 0)
      found.push(`tab order: ${describeElement(element)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of new Set(ids.filter((each, at) => ids.indexOf(each) !== at))) found.push(`id twice: ${id}`);
  return found;
}

/** Visible text of low contrast, unless it is over a gradient. */
function contrastFindings(): string[] {
  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const found: string[] = [];
  const dialog = document.querySelector('dialog[open]') ?? document.body;
  const all = [...dialog.querySelectorAll('*')].filter(
    (element) =>
      element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) &&
      element.closest('[aria-hidden="true"], .unseen') === null,
  );
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colorOf = (text: string): Color => {
    if (canvas === null) return [0, 0, 0, 0];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const luminance = ([red, green, blue]: Color): number => {
    const [r = 0, g = 0, b = 0] = [red, green, blue].map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** The nearest opaque color behind. Undefined over a gradient or a picture. */
  const groundOf = (element: Element | null): Color | undefined => {
    if (element === null) return [255, 255, 255, 1];
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    if (backgroundImage !== 'none') return undefined;
    const color = colorOf(backgroundColor);
    return color[3] > 0.99 ? color : groundOf(element.parentElement);
  };
  for (const element of all) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim() !== '');
    const ground = isText && !element.matches(':disabled') ? groundOf(element) : undefined;
    if (ground === undefined) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const [light = 0, dark = 0] = [luminance(colorOf(color)), luminance(ground)].toSorted((one, other) => other - one);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = Number.parseFloat(fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < needed) found.push(`contrast ${ratio.toFixed(2)}: ${element.localName}#${element.id}`);
  }
  return found;
}

async function findingsOn(page: Page): Promise<string[]> {
  return [...(await page.evaluate(structureFindings)), ...(await page.evaluate(contrastFindings))];
}

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

  it.each([
    ['light', 1280, 800],
    ['dark', 390, 844],
    // A window of 1280 pixels at a zoom of 200 %.
    ['light', 640, 400],
    // A phone on its side.
    ['dark', 844, 390],
  ] as const)(
    'finds nothing on the page and its dialogs: %s, %i × %i',
    async (colorScheme, width, height) => {
      const page = await open({ viewport: { width, height }, colorScheme });
      expect(await findingsOn(page)).toEqual([]);
      await page.click('#characters >> text=Alice');
      expect(await findingsOn(page)).toEqual([]);
      await page.locator('#openings .suggestion button').first().click();
      await page.locator('#transcript li[data-role="character"][data-status="done"]').waitFor();
      expect(await findingsOn(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await page.click('#llm-open');
      await page.locator('#llm-status:has-text(".")').waitFor();
      expect(await findingsOn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.click('#settings-open');
      await page.locator('#models:not([hidden])').waitFor();
      expect(await findingsOn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.click('#memories-open');
      expect(await findingsOn(page)).toEqual([]);
      await page.close();
    },
    120_000,
  );

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
