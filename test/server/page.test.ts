import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/config.ts';
import { startServer, type RunningServer } from '../../server/serve.ts';
import { concatSamples } from '../../voices/audio.ts';
import { resample } from '../../voices/resampler.ts';
import { writeWav } from '../../voices/wav.ts';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const available = existsSync(executablePath);
if (!available) console.warn(`The page's test is skipped: there is no Chromium at ${executablePath} (set CHROMIUM).`);

/** Where to leave screenshots, for a person to look at; nowhere unless asked. */
const screenshots = process.env['DRAMATIS_SCREENSHOTS'];

describe.skipIf(!available)('the page, in a real browser with a recording as its microphone', () => {
  let server: RunningServer;
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    server = await startServer(readConfig({ flags: { port: '0', logLevel: 'error' }, environment: {} }));
    folder = await mkdtemp(path.join(tmpdir(), 'dramatis-page-'));
    const microphone = path.join(folder, 'microphone.wav');
    await writeQuestion(server, microphone);
    browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--autoplay-policy=no-user-gesture-required',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      ],
    });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is spoken to, shows what it understood, and speaks the answer', async () => {
    const page = await openPage(browser, server, { width: 1280, height: 800 });
    await keep(page, 'picker');
    await page.click('#characters >> text=Sherlock Holmes');
    await page.click('#talk');
    const heard = page.locator('#transcript li[data-role="user"][data-status="done"]').first();
    await heard.waitFor({ timeout: 60_000 });
    expect((await heard.innerText()).toLowerCase()).toContain('best friend');
    const answer = page
      .locator('#transcript li[data-role="user"] ~ li[data-role="character"][data-status="done"]')
      .first();
    await answer.waitFor({ timeout: 60_000 });
    await keep(page, 'conversation');
    expect(await answer.innerText()).toContain('Watson');
    const ledger = await answer.locator('[data-latency]').first().getAttribute('data-latency');
    const latency = JSON.parse(ledger ?? '{}') as Record<string, unknown>;
    expect(latency['basis']).toBe('speech_end');
    for (const stage of ['endpoint_ms', 'transcript_ms', 'first_token_ms', 'first_phrase_ms', 'first_audio_ms']) {
      expect({ [stage]: typeof latency[stage] }).toEqual({ [stage]: 'number' });
    }
    const shares = Object.values(latency['owners'] as Record<string, number | null>);
    expect(shares.reduce<number>((sum, share) => sum + (share ?? 0), 0)).toBeCloseTo(Number(latency['total_ms']), 3);
    expect(latency['total_ms']).toBe(latency['heard_ms']);
    await page.close();
  }, 120_000);

  it('answers what is typed, on a phone, without a microphone being asked for', async () => {
    const page = await openPage(browser, server, { width: 390, height: 844 });
    await page.click('#characters >> text=Alice');
    await page.fill('#text', 'What is your name?');
    await page.click('#send');
    const answer = page.locator('#transcript li[data-role="character"][data-status="done"]').first();
    await answer.waitFor({ timeout: 60_000 });
    await keep(page, 'phone');
    expect(await answer.innerText()).toMatch(/Alice/);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await page.close();
  }, 120_000);

  it('says what to do when the microphone is denied', async () => {
    const context = await browser.newContext({ permissions: [] });
    const page = await context.newPage();
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
    });
    await page.goto(server.url);
    await page.click('#characters >> text=Alice');
    await page.click('#talk');
    await page.locator('#message:has-text("microphone")').waitFor({ timeout: 30_000 });
    await keep(page, 'denied');
    await expect(page.locator('#message').innerText()).resolves.toMatch(/allow/i);
    await context.close();
  }, 60_000);
});

async function openPage(
  browser: Browser,
  server: RunningServer,
  viewport: { width: number; height: number },
): Promise<Page> {
  const page = await browser.newPage({ viewport });
  page.on('pageerror', (fault) => {
    throw fault;
  });
  await page.goto(server.url);
  await page.locator('#characters >> text=Sherlock Holmes').first().waitFor();
  return page;
}

async function keep(page: Page, name: string): Promise<void> {
  if (screenshots !== undefined) await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
}

/** A question in one of our own voices, after a moment of silence, with room for an answer behind it. */
async function writeQuestion(server: RunningServer, file: string): Promise<void> {
  const lincoln = server.characters.get('abraham-lincoln');
  if (lincoln === undefined) throw new Error('the pack of Abraham Lincoln is missing');
  const { synthesizer, voice } = server.engines.voiceOf(lincoln);
  async function* question(): AsyncIterable<{ text: string }> {
    yield { text: 'Good evening. Tell me about your best friend.' };
  }
  const blocks: Float32Array[] = [];
  const signal = new AbortController().signal;
  for await (const { frame } of synthesizer.speak(question(), { signal, voice })) blocks.push(frame.samples);
  const speech = resample(concatSamples(blocks), synthesizer.sampleRate, 48_000);
  await writeWav(file, concatSamples([new Float32Array(2 * 48_000), speech, new Float32Array(60 * 48_000)]), 48_000);
}
