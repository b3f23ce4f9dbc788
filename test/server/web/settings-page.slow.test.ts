import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../fakes/network/browser.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyFiles } from '../../fakes/models/tiny-model.ts';
import { tinyPitches, tinyVits } from '../../fakes/models/tiny-synthesizers.ts';
import { answer, openWeightsServer } from '../../fakes/models/weights-server.ts';
import { keep, servePages } from '../../rigs/page-rig.ts';

const hasAll = hasBrowser('the settings of the page') && isInstalled('sherpa-onnx-node');
const replies = '#transcript li[data-role="character"][data-status="done"]';
const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-settings-'));
const modelCatalogue = path.join(folder, 'catalogue.json');
const voice = await tinyVits(tinyFiles(folder));
const contents = new Map(
  await Promise.all(
    Object.values(voice).map(async (file) => [path.basename(file.path), await readFile(file.path)] as const),
  ),
);
const weightsServer = await openWeightsServer(Buffer.alloc(0));
afterAll(async () => {
  await weightsServer.close();
  await rm(folder, { recursive: true });
});
/** Response that still owes the second half of its file. */
let owed: { readonly response: ServerResponse; readonly rest: Buffer } | undefined;
weightsServer.trick = (request, response) => {
  const file = contents.get(path.basename(request.path)) ?? Buffer.alloc(0);
  if (!request.path.endsWith('.onnx') || request.from > 0) answer({ ...request, file }, response, '"one"');
  else {
    response.writeHead(200, { etag: '"one"', 'content-length': file.length });
    response.write(file.subarray(0, file.length / 2));
    owed = { response, rest: file.subarray(file.length / 2) };
  }
  return true;
};
await writeFile(
  modelCatalogue,
  JSON.stringify([
    {
      id: 'tiny-voice',
      title: 'Tiny voice',
      use: 'a hum for each letter',
      role: 'tts',
      languages: ['en'],
      licence: 'CC0-1.0',
      downloads: Object.values(voice).map(({ path: place, sha256 }) => ({
        file: path.basename(place),
        urls: [`${weightsServer.url}/${path.basename(place)}`],
        bytes: contents.get(path.basename(place))?.length,
        sha256,
      })),
      files: Object.fromEntries(Object.entries(voice).map(([part, file]) => [part, path.basename(file.path)])),
      engine: { kind: 'sherpa-onnx', family: 'vits', voices: { '*': '0' } },
      auto: 1,
    },
  ]),
);

/** Frequency of the loudest half second of one side of a stereo recording, by its zero crossings. */
function pitchOf(wav: Buffer, side: 0 | 1): number {
  const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, (wav.length - 44) >> 1).filter(
    (_, at) => at % 2 === side,
  );
  const rate = wav.readUInt32LE(24);
  const half = rate / 2;
  const windows = Array.from({ length: Math.floor(samples.length / half) }, (_, index) =>
    samples.subarray(index * half, (index + 1) * half),
  );
  const energy = (window: Int16Array): number => window.reduce((sum, value) => sum + value * value, 0);
  const loudest = windows.toSorted((one, other) => energy(other) - energy(one))[0] ?? new Int16Array();
  const crossings = loudest.filter((value, at) => value >= 0 && (loudest[at - 1] ?? 0) < 0).length;
  return crossings * 2;
}

describe.skipIf(!hasAll)('settings of the page', () => {
  const pages = servePages({ asks: 'again', flags: { modelCatalogue } });

  async function open(hash = ''): Promise<Page> {
    const context = { viewport: { width: 1280, height: 800 }, permissions: ['microphone'], acceptDownloads: true };
    const page = await pages.browser.newPage(context);
    page.setDefaultTimeout(60_000);
    await page.goto(`${pages.server.url}/${hash}`);
    await page.locator('#characters .card').first().waitFor();
    return page;
  }

  it('leads from the empty page to a downloaded voice that speaks the next reply, and is recorded', async () => {
    const page = await open();
    await page.click('#settings-open');
    await page.locator('#models-turn-detector li[data-used="true"]:has-text("Words and prosody")').waitFor();
    const row = page.locator('#models-tts li[data-id="tiny-voice"]');
    expect(await row.locator('small').textContent()).toMatch(
      /^a hum for each letter · English · [\d.]+ MB · CC0-1\.0$/,
    );
    await row.locator('button').click();
    await row.locator('progress[max]').waitFor();
    await keep(page, 'voice-download');
    expect(await row.locator('small.error').textContent()).toMatch(/^0\.0 MB of 0\.0 MB$/);
    owed?.response.end(owed.rest);
    await row.locator('button:has-text("Use")').click();
    await page.locator('#models-status:has-text("the next conversation uses it")').waitFor();
    expect(await row.getAttribute('data-used')).toBe('true');
    await page.click('#settings-close');
    await page.locator('#openings .suggestion button').first().click();
    await page.locator(replies).waitFor();
    const [sound] = await Promise.all([page.waitForEvent('download'), page.click('text=Save sound')]);
    expect(Math.abs(pitchOf(await readFile(await sound.path()), 1) - (tinyPitches[0] ?? 0))).toBeLessThan(8);
    // Back to the embedded voices.
    await page.click('#settings-open');
    await page.locator('#models-tts li').first().locator('button').click();
    await page.locator('#models-tts li').first().locator('text=In use').waitFor();
    await page.close();
  }, 120_000);

  it('keeps theme, volume and push-to-talk over a reload', async () => {
    const page = await open('#alice');
    await page.click('#settings-open');
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await ground()).toBe('rgb(248, 241, 230)');
    await page.check('input[name="theme"][value="dark"]');
    expect(await ground()).toBe('rgb(21, 14, 20)');
    await page.fill('#volume', '40');
    await page.check('#push-to-talk');
    await page.reload();
    expect(await ground()).toBe('rgb(21, 14, 20)');
    await page.locator('#characters .card').first().waitFor();
    await page.click('#settings-open');
    expect(await page.inputValue('#volume')).toBe('40');
    expect(await page.isChecked('#push-to-talk')).toBe(true);
    await page.goto(`${pages.server.url}/characters.html`);
    expect(await ground()).toBe('rgb(21, 14, 20)');
    await page.close();
  }, 60_000);

  it('hears what is said while the space bar is held, and answers when it is let go', async () => {
    const page = await open('#abraham-lincoln');
    await page.click('#settings-open');
    await page.check('#push-to-talk');
    await page.click('#settings-close');
    await page.click('#talk');
    // The greeting plays; pressing stops it.
    await page.locator('html[data-state="speaking"]').waitFor();
    expect(await page.locator('#talk-hint').textContent()).toContain('space bar');
    const heard = () => page.locator('#transcript li[data-role="user"] .words').allTextContents();
    expect(await heard()).toEqual([]);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.down(' ');
    await page.locator('html[data-state="hearing"]').waitFor();
    // One whole question: from a second of silence to a second and a half after it.
    await page.waitForFunction(
      () => {
        const meter = document.getElementById('meter');
        const state = globalThis as unknown as { quietFrom?: number; isAsked?: boolean };
        const now = performance.now();
        state.quietFrom ??= now;
        if (Number(meter?.getAttribute('aria-valuenow')) > 30) {
          state.isAsked ||= now - state.quietFrom > 1_000;
          state.quietFrom = now;
        }
        return state.isAsked === true && now - state.quietFrom > 1_500;
      },
      undefined,
      { polling: 50 },
    );
    await page.keyboard.up(' ');
    await page.locator('#transcript li[data-role="user"][data-status="done"]').waitFor();
    expect((await heard()).join(' ').toLowerCase()).toContain('friend');
    await page.locator(replies).last().waitFor();
    await page.locator('html[data-state="muted"]').waitFor();
    expect(await page.locator('#message').textContent()).toBe('');
    const [sound] = await Promise.all([page.waitForEvent('download'), page.click('text=Save sound')]);
    expect(pitchOf(await readFile(await sound.path()), 0)).toBeGreaterThan(60);
    await page.close();
  }, 120_000);
});
