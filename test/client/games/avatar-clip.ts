import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const client = path.resolve(import.meta.dirname, '../../../server/client');
const packageOf = (url: string): string => path.join(path.dirname(fileURLToPath(url)), '..');
const folders: Readonly<Record<string, string>> = {
  '/client/': client,
  '/node_modules/three/': packageOf(import.meta.resolve('three')),
  '/node_modules/@pixiv/three-vrm/': packageOf(import.meta.resolve('@pixiv/three-vrm')),
};

/** The sample of the avatar, served as a game developer does: our client next to the packages. */
export interface ServedSample {
  readonly url: string;
  readonly close: () => void;
}

export async function serveSample(): Promise<ServedSample> {
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

/** Opens the sample, whose talk is with a character of the server at `url`. */
export async function openSample(page: Page, sample: ServedSample, url: string): Promise<void> {
  const query = new URLSearchParams({ url, character: 'abraham-lincoln' });
  await page.goto(`${sample.url}/client/avatar/sample/index.html?${query}`);
  await page.waitForFunction(() => (globalThis as any).renderer !== undefined);
}

/** A frame of a clip: pixels of the open mouth, the picture as a data URL, and whether the reply has been interrupted. */
export interface ClipFrame {
  readonly pixels: number;
  readonly picture: string;
  readonly isStopped: boolean;
}

export interface Clip {
  readonly framesPerSecond: number;
  /** Pixels of a mouth at rest, and of one that says `aa`. */
  readonly closed: number;
  readonly open: number;
  readonly frames: readonly ClipFrame[];
}

const framesPerSecond = 30;

/**
 * Records the avatar in a talk with the live server, in frames of the audio clock: the loudspeaker plays a thirtieth of a
 * second for each frame that is drawn, however long the drawing takes. After two seconds of speech the talk is interrupted,
 * as soon as the mouth is wide open; the clip ends half a second later.
 */
export async function recordClip(page: Page): Promise<Clip> {
  await page.addScriptTag({ type: 'module', content: partsOfClient });
  await page.waitForFunction(() => (globalThis as any).parts !== undefined);
  const recorded = await page.evaluate(recordInPage, { framesPerSecond, says: 'Tell me about your best friend.' });
  return { framesPerSecond, ...recorded };
}

const partsOfClient = `
  import { openTalk } from '/client/open-talk.js';
  import { HeardLips } from '/client/mouth/mouth.js';
  import { Avatar } from '/client/avatar/avatar.js';
  import { PlaybackQueue } from '/client/audio/playback-queue.js';
  globalThis.parts = { openTalk, HeardLips, Avatar, PlaybackQueue };
`;

/** Writes the frames as `NNN-speaks.png` and `NNN-stopped.png`. */
export async function writeClip({ frames }: Clip, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [index, { picture, isStopped }] of frames.entries()) {
    const name = `${String(index).padStart(3, '0')}-${isStopped ? 'stopped' : 'speaks'}.png`;
    await writeFile(path.join(folder, name), Buffer.from(picture.split(',')[1] ?? '', 'base64'));
  }
}

/** Runs in the page. */
async function recordInPage({ framesPerSecond: rate, says }: { framesPerSecond: number; says: string }) {
  const here = globalThis as any;
  const { openTalk, HeardLips, Avatar, PlaybackQueue } = here.parts;
  const { renderer, scene, camera, vrm } = here;
  renderer.setAnimationLoop(null);
  here.talk.close();
  const samplesPerFrame = 24_000 / rate;
  let nowMs = 0;
  const mouth = new HeardLips(() => nowMs);
  const avatar = new Avatar(vrm, { mouth });

  let queue = new PlaybackQueue();
  let queued = 0;
  let onSound = (): void => undefined;
  const open = new Set<string>();
  let listener: any;
  const speaker = {
    isRunning: true,
    get isPlaying() {
      return open.size > 0;
    },
    play(itemId: string, samples: Float32Array) {
      open.add(itemId);
      queued += samples.length;
      queue.push(itemId, samples);
      onSound();
    },
    complete: (itemId: string) => queue.complete(itemId),
    async flush() {
      open.clear();
      const played: ReadonlyMap<string, number> = queue.flush(new Float32Array(128));
      queue = new PlaybackQueue(queue);
      return new Map(Array.from(played, ([itemId, samples]) => [itemId, samples / 24]));
    },
    close: () => open.clear(),
  };
  const talk = openTalk({
    url: new URLSearchParams(location.search).get('url'),
    character: new URLSearchParams(location.search).get('character'),
    visemes: true,
    speaker: async (told: any) => {
      listener = told;
      return speaker;
    },
    onEvent(event: any) {
      mouth.take(event);
      avatar.take(event);
    },
  });

  const gl = renderer.getContext();
  const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
  const buffer = new Uint8Array(width * height * 4);
  const draw = (seconds: number): number => {
    avatar.update(seconds);
    renderer.render(scene, camera);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, buffer);
    let pixels = 0;
    // The mouth is the only thing that is red and dark.
    for (let at = 0; at < buffer.length; at += 4)
      if (buffer[at]! > 120 && buffer[at + 1]! < 70 && buffer[at + 2]! < 80) pixels += 1;
    return pixels;
  };
  avatar.mouth = { weightsAt: () => ({ aa: 1 }) };
  const wide = draw(1);
  avatar.mouth = { weightsAt: () => ({ sil: 1 }) };
  const closed = draw(1);
  avatar.mouth = mouth;

  await talk.opened;
  talk.say(says);
  const frames: { pixels: number; picture: string; isStopped: boolean }[] = [];
  let stoppedAt = Infinity;
  const isWaiting = (): boolean => stoppedAt === Infinity && queued < (frames.length + 2) * samplesPerFrame;
  while (frames.length < stoppedAt + rate / 2) {
    // Sound comes in real time; a frame waits for it.
    while (isWaiting()) await new Promise<void>((resolve) => (onSound = resolve));
    const block = new Float32Array(samplesPerFrame);
    const { item } = queue.render(block);
    nowMs += 1_000 / rate;
    if (item !== undefined && open.has(item.itemId)) {
      const level = Math.sqrt(block.reduce((sum, sample) => sum + sample * sample, 0) / block.length);
      listener.onProgress(item.itemId, item.played / 24, level);
    }
    const pixels = draw(1 / rate);
    frames.push({ pixels, picture: renderer.domElement.toDataURL('image/png'), isStopped: stoppedAt < Infinity });
    if (stoppedAt < Infinity || frames.length < 2 * rate || pixels < 0.7 * wide) continue;
    stoppedAt = frames.length;
    void talk.interrupt();
  }
  talk.close();
  return { frames, closed, open: wide };
}
