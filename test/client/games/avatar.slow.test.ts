import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasBrowser, openBrowser } from '../../fakes/network/browser.ts';
import { servePages } from '../../rigs/page-rig.ts';

const client = path.resolve(import.meta.dirname, '../../../server/client');
const folders: Readonly<Record<string, string>> = {
  '/client/': client,
  '/node_modules/three/': path.join(path.dirname(fileURLToPath(import.meta.resolve('three'))), '..'),
  '/node_modules/@pixiv/three-vrm/': path.join(
    path.dirname(fileURLToPath(import.meta.resolve('@pixiv/three-vrm'))),
    '..',
  ),
};

/** Serves the sample as a game developer does: our client next to the packages. */
async function serveSample() {
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname;
    const [prefix, folder] = Object.entries(folders).find(([each]) => name.startsWith(each)) ?? [];
    if (prefix === undefined || folder === undefined) return void response.writeHead(404).end();
    response.setHeader('content-type', name.endsWith('.html') ? 'text/html' : 'text/javascript');
    return void response.end(readFileSync(path.join(folder, path.normalize(name.slice(prefix.length)))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

/** A frame of the avatar: seconds since the one before, pixels of its open mouth, the picture if pictures are wanted. */
interface Frame {
  readonly deltaS: number;
  readonly pixels: number;
  readonly picture: string | undefined;
  readonly isStopped: boolean;
}

/** Records each frame that the page draws in `frames`. */
function record(keepsPictures: boolean): void {
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
    const picture = keepsPictures ? page.renderer.domElement.toDataURL('image/png') : undefined;
    page.frames.push({ deltaS, pixels, picture, isStopped: page.isStopped });
  };
}

describe.skipIf(!hasBrowser('the avatar'))('the avatar in a browser', () => {
  const settings: Record<string, string> = {};
  let sample: Awaited<ReturnType<typeof serveSample>>;
  beforeAll(async () => {
    sample = await serveSample();
    settings['allowedOrigins'] = sample.url;
  });
  afterAll(() => sample?.close());
  const pages = servePages({ flags: settings });
  const pictures = process.env['DRAMATIS_SCREENSHOTS'];

  async function openSample(): Promise<Page> {
    const browser = await openBrowser(undefined, ['--enable-unsafe-swiftshader']);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const query = new URLSearchParams({ url: pages.server.url, character: 'abraham-lincoln' });
    await page.goto(`${sample.url}/client/avatar/sample/index.html?${query}`);
    await page.waitForFunction(() => (globalThis as any).renderer !== undefined);
    return page;
  }

  it('opens its mouth wider for ih, oh and aa, speaks, and shuts it within 120 ms of an interruption', async () => {
    const page = await openSample();
    await page.evaluate(record, pictures !== undefined);
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
    if (pictures === undefined) return;
    const folder = path.join(pictures, 'avatar');
    mkdirSync(folder, { recursive: true });
    for (const [index, { picture = '', pixels, isStopped }] of all.slice(-48).entries()) {
      const name = `${String(index).padStart(2, '0')}-${isStopped ? 'stopped' : 'speaks'}-${pixels}.png`;
      writeFileSync(path.join(folder, name), Buffer.from(picture.split(',')[1] ?? '', 'base64'));
    }
  }, 60_000);
});
