import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import type { RunningServer } from '../../../server/app/serve.ts';
import { wireSampleRate } from '../../../server/protocol/limits.ts';
import { concatSamples } from '../../../voices/audio.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import { spoken } from '../spoken.ts';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Returns whether Chromium is installed; warns if it is not. */
export function hasBrowser(test: string): boolean {
  const isThere = existsSync(executablePath);
  if (!isThere) console.warn(`Skipped: ${test}. There is no Chromium at ${executablePath} (set CHROMIUM).`);
  return isThere;
}

/** A real browser. `close` throws if a page has thrown. */
export interface TestBrowser {
  newPage(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

/**
 * Opens a browser that makes no requests of its own. Its microphone plays a recording, once or again and again, if a
 * file is given; `flags` are more flags of Chromium.
 */
export async function openBrowser(
  microphone?: { readonly file: string; readonly again: boolean },
  flags: readonly string[] = [],
): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      ...flags,
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--autoplay-policy=no-user-gesture-required',
      ...(microphone === undefined
        ? []
        : [
            '--use-fake-ui-for-media-stream',
            '--use-fake-device-for-media-stream',
            `--use-file-for-fake-audio-capture=${microphone.file}${microphone.again ? '' : '%noloop'}`,
          ]),
    ],
  });
  const faults: Error[] = [];
  return {
    async newPage(options = {}) {
      const page = await browser.newPage(options);
      page.on('pageerror', (fault) => faults.push(fault));
      return page;
    },
    async close() {
      await browser.close();
      if (faults.length > 0) throw new AggregateError(faults, `a page threw: ${faults[0]?.message}`);
    },
  };
}

/**
 * Opens a browser whose microphone asks about the best friend, in one of the server's own voices, after two seconds of
 * silence: once, or again and again.
 */
export async function openBrowserThatAsks(
  server: RunningServer,
  { flags = [], again = false }: { readonly flags?: readonly string[]; readonly again?: boolean } = {},
): Promise<TestBrowser> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-browser-'));
  const microphone = path.join(folder, 'microphone.wav');
  const lincoln = server.characters.get('abraham-lincoln');
  if (lincoln === undefined) throw new Error('the pack of Abraham Lincoln is missing');
  const question = await spoken('Good evening. Tell me about your best friend.', server.engines.voiceOf(lincoln));
  const silence = (seconds: number): Float32Array => new Float32Array(seconds * 48_000);
  // The silence after the question leaves time for the answer.
  const heard = concatSamples([silence(2), resample(question, wireSampleRate, 48_000), silence(again ? 2 : 60)]);
  await writeWav(microphone, heard, 48_000);
  const browser = await openBrowser({ file: microphone, again }, flags);
  return {
    newPage: (options) => browser.newPage(options),
    async close() {
      await rm(folder, { recursive: true, force: true });
      await browser.close();
    },
  };
}
