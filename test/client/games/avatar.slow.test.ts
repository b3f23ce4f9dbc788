import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasBrowser, openBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';
import { openSample, recordClip, serveSample, writeClip, type ServedSample } from './avatar-clip.ts';

/** A frame of the avatar: seconds since the one before, pixels of its open mouth. */
interface Frame {
  readonly deltaS: number;
  readonly pixels: number;
  readonly isStopped: boolean;
}

/** Records each frame that the page draws in `frames`. */
function record(): void {
  const page = globalThis as any;
  const gl = page.renderer.getContext();
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
  const buffer = new Uint8Array(width * height * 4);
  page.frames = [];
  page.isStopped = false;
  page.onDrawn = (deltaS: number) => {
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, buffer);
    let pixels = 0;
    // The mouth is the only thing that is red and dark.
    for (let at = 0; at < buffer.length; at += 4) {
      if (buffer[at]! > 120 && buffer[at + 1]! < 70 && buffer[at + 2]! < 80) pixels += 1;
    }
    page.frames.push({ deltaS, pixels, isStopped: page.isStopped });
  };
}

describe.skipIf(!hasBrowser('the avatar'))('the avatar in a browser', () => {
  const settings: Record<string, string> = {};
  let sample: ServedSample;
  beforeAll(async () => {
    sample = await serveSample();
    settings['allowedOrigins'] = sample.url;
  });
  afterAll(() => sample?.close());
  const pages = servePages({ flags: settings });
  const pictures = process.env['DRAMATIS_SCREENSHOTS'];

  async function openPage(): Promise<Page> {
    const browser = await openBrowser(undefined, ['--enable-unsafe-swiftshader']);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await openSample(page, sample, pages.server.url);
    return page;
  }

  it('opens its mouth wider for ih, oh and aa, speaks, and shuts it within 120 ms of an interruption', async () => {
    const page = await openPage();
    await page.evaluate(record);
    // Shapes that hold for a second of the avatar's own time.
    const areaOf = (viseme: string): Promise<number> =>
      page.evaluate((shape) => {
        const { avatar } = globalThis as any;
        const real = avatar.mouth;
        avatar.mouth = { weightsAt: () => ({ [shape]: 1 }) };
        avatar.update(1);
        return new Promise<number>((resolve) => {
          const first = (globalThis as any).frames.length;
          const look = (): void => {
            const { frames } = globalThis as any;
            if (frames.length < first + 2) return void requestAnimationFrame(look);
            avatar.mouth = real;
            resolve(frames.at(-1).pixels);
          };
          look();
        });
      }, viseme);
    const closed = await areaOf('sil');
    const [ih, oh, aa, pressed] = [await areaOf('ih'), await areaOf('oh'), await areaOf('aa'), await areaOf('PP')];
    expect(closed).toBeLessThan(ih);
    expect(ih).toBeLessThan(oh);
    expect(oh).toBeLessThan(aa);
    expect(Math.abs(pressed - closed)).toBeLessThan(closed / 4);

    // A talk, interrupted with the mouth wide open.
    const frames = await page.evaluate(
      async ({ open, shut }) => {
        const here = globalThis as any;
        await here.talk.opened;
        here.frames.length = 0;
        here.talk.say('Tell me about your best friend.');
        const until = (isIt: () => boolean): Promise<void> =>
          new Promise((resolve) => {
            const look = (): void => (isIt() ? resolve() : void requestAnimationFrame(look));
            look();
          });
        let opened = 0;
        let seen = 0;
        await until(() => {
          for (; seen < here.frames.length; seen += 1) if (here.frames[seen].pixels > open) opened += 1;
          return opened > 12 && here.frames.at(-1).pixels > open;
        });
        void here.talk.interrupt();
        here.isStopped = true;
        const first = here.frames.length;
        await until(() => here.frames.length > first + 12);
        return { all: here.frames as Frame[], shut };
      },
      { open: (closed + aa) / 4, shut: closed },
    );
    const { all } = frames;
    expect(Math.max(...all.map(({ pixels }) => pixels))).toBeGreaterThan(3 * closed);
    const after = all.filter(({ isStopped }) => isStopped);
    let sinceS = 0;
    for (const { deltaS, pixels } of after) {
      sinceS += deltaS;
      if (sinceS >= 0.12) expect(pixels).toBeLessThan(closed * 1.25);
    }
    expect(sinceS).toBeGreaterThan(0.12);
  }, 60_000);

  it('rests within 120 ms of an interruption, in frames of the audio clock', async () => {
    const clip = await recordClip(await openPage());
    if (pictures !== undefined) await writeClip(clip, path.join(pictures, 'avatar'));
    const { frames, closed, open, framesPerSecond } = clip;
    const first = frames.findIndex(({ isStopped }) => isStopped);
    expect(first).toBeGreaterThanOrEqual(2 * framesPerSecond);
    expect(frames[first - 1]?.pixels).toBeGreaterThan(0.7 * open);
    // It spoke: the mouth was wide open and nearly shut, more than once.
    const spoken = frames.slice(0, first).map(({ pixels }) => pixels);
    expect(spoken.filter((pixels) => pixels > open / 2).length).toBeGreaterThan(3);
    expect(spoken.filter((pixels) => pixels < 1.25 * closed).length).toBeGreaterThan(3);
    const rests = frames.findIndex(({ pixels, isStopped }) => isStopped && pixels < 1.25 * closed);
    expect(((rests - first + 1) * 1_000) / framesPerSecond).toBeLessThanOrEqual(120);
    for (const { pixels } of frames.slice(rests)) expect(pixels).toBeLessThan(1.25 * closed);
  }, 120_000);
});
