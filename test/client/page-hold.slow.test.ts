import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { writeWav } from '../../voices/dsp/wav.ts';
import { hasBrowser, openBrowser } from '../fakes/network/browser.ts';
import { openRig } from '../rigs/talk-rig.ts';

/** Folder for screenshots; none are taken unless it is set. */
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

const line = `One two three, four five six${' seven eight nine ten'.repeat(14)}.`;

/** A state of the page, recorded at each change. */
interface Shown {
  readonly state: string;
  readonly status: string;
  readonly text: string;
  readonly voice: number;
}

describe.skipIf(!hasBrowser('a cough over the page’s reply'))('page', () => {
  it('plays on after a cough over a reply, shows each word once and marks nothing as interrupted', async () => {
    await using rig = await openRig({
      says: [line, 'Yes.'],
      hears: [''],
      flags: { playoutAheadMs: '400' },
    });
    // Rest of the cough in windows of the VAD: its length does not depend on how busy the machine is.
    let coughWindows = 0;
    Object.assign(rig.engines.fakeVad, {
      open: () => ({ score: async () => ((coughWindows -= 1) >= 0 ? 0.95 : 0.02), close: () => undefined }),
    });
    const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-quiet-'));
    const quiet = path.join(folder, 'quiet.wav');
    await writeWav(quiet, new Float32Array(60 * 48_000), 48_000);
    const browser = await openBrowser({ file: quiet, again: false });
    try {
      const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
      const comes = framesOf(page);
      await page.goto(rig.url);
      await watch(page);
      await page.click('#characters >> text=Alice');
      await page.click('#talk');
      await page.locator('#transcript li[data-role="character"]:has-text("three, four")').waitFor();
      coughWindows = 10;
      await comes('x_dramatis.hold');
      if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, 'held.png') });
      await comes('x_dramatis.resume');
      await page.locator('#transcript li[data-role="character"][data-status="done"]').waitFor();
      await page.locator('html[data-state="listening"]').waitFor();
      const shown = await page.evaluate(() => (globalThis as unknown as { shown: Shown[] }).shown);
      const spoken = shown.slice(shown.findIndex(({ state }) => state === 'speaking'));
      expect(distinct(spoken.map(({ state }) => state))).toEqual(['speaking', 'listening']);
      expect(distinct(spoken.map(({ status }) => status))).toEqual(['partial', 'done']);
      for (const { text } of spoken) expect(line.startsWith(text)).toBe(true);
      // Repeated words appear one by one as they are heard.
      const texts = distinct(spoken.map(({ text }) => text));
      const steps = texts.map((text, index) => wordsIn(text) - wordsIn(texts[index - 1] ?? ''));
      expect(Math.max(...steps.slice(1, -1))).toBeLessThan(5);
      expect(spoken.at(-1)?.text).toBe(line);
      // Silent for a moment in the middle, without a moving level.
      const voices = distinct(spoken.slice(0, -1).map(({ voice }) => voice > 0));
      expect(voices.filter((sounds) => sounds).length).toBeGreaterThanOrEqual(2);

      // The page completes the latency breakdown of a reply that was sent before it was heard.
      await page.fill('#text', 'Really?');
      await page.click('#send');
      const short = page.locator('#transcript li[data-role="character"][data-status="done"]:has-text("Yes.")');
      await short.locator('[data-latency*="delivery"]').waitFor();
      const latency = JSON.parse((await short.locator('[data-latency]').getAttribute('data-latency')) ?? '{}');
      expect(latency.owners.delivery).toBeGreaterThanOrEqual(0);
      expect(latency.total_ms).toBe(latency.heard_ms);
    } finally {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});

function wordsIn(text: string): number {
  return text.split(' ').filter(Boolean).length;
}

/** Waits for events of the server, in the order asked for, whenever they came. */
function framesOf(page: Page): (type: string) => Promise<void> {
  const frames: string[] = [];
  const waiting = new Set<() => void>();
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      frames.push(String(payload));
      for (const look of waiting) look();
    }),
  );
  return (type) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!frames.some((frame) => frame.includes(`"type":"${type}"`))) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
}

/** Notes in the page what it shows, from now on. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shown: Shown[] = [];
    Object.assign(globalThis, { shown });
    const root = document.documentElement;
    const look = (): void => {
      const entry = document.querySelector<HTMLElement>('#transcript li[data-role="character"]');
      shown.push({
        state: root.dataset['state'] ?? '',
        status: entry?.dataset['status'] ?? '',
        text: entry?.querySelector('.words')?.textContent ?? '',
        voice: Number(root.style.getPropertyValue('--voice')),
      });
    };
    new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

/** Without repetitions in a row. */
function distinct<Value>(values: readonly Value[]): Value[] {
  return values.filter((value, index) => value !== values[index - 1]);
}
