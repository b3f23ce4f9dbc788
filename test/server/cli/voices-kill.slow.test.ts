import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../eval/statistics.ts';
import { dramatis } from '../../rigs/command-rig.ts';
import { keptIn, openVoicesRig } from './voices-rig.ts';

const { folder, encoder, on, adding, added } = await openVoicesRig();

/** Starts `dramatis voices` in its own process. */
const start = (args: readonly string[], stdio: StdioOptions = 'ignore') =>
  spawn(process.execPath, ['server/main.ts', 'voices', ...args], { stdio });

/** Runs until a line of progress matches, then kills the process. */
async function killedAt(dataDir: string, pattern: RegExp): Promise<void> {
  const child = start(adding(dataDir), ['ignore', 'ignore', 'pipe']);
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr! })) {
    if (pattern.test(line)) child.kill('SIGKILL');
  }
  expect(await exit).toEqual([null, 'SIGKILL']);
}

/** Runs until this many changes on disk, then kills the process, between or within its writes. */
async function killedAfter(changes: number, dataDir: string): Promise<unknown> {
  await mkdir(dataDir, { recursive: true });
  const watcher = watch(dataDir, { recursive: true });
  const child = start(adding(dataDir, '--speaker-encoder', encoder));
  let left = changes;
  watcher.on('change', () => {
    left -= 1;
    if (left === 0) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  watcher.close();
  return signal;
}

describe('dramatis voices add', () => {
  it('loses nothing if killed at any stage and repeats no work in the second run', { timeout: 120_000 }, async () => {
    const [whole, broken] = ['whole', 'broken'].map((name) => path.join(folder, name)) as [string, string];
    expect(await added(whole)).toMatchObject({ id: 'sailor', clips: 4, examined: 4 });
    await killedAt(broken, /voyage\.wav: 4 clips/);
    await killedAt(broken, / 1\/\d clips/);
    const rest = (await added(broken))['examined'] as number;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(4);
    const files = await keptIn(whole);
    expect(Object.keys(files)).toHaveLength(4 + 1 + 1);
    expect(await keptIn(broken)).toEqual(files);
    expect(await added(broken)).toMatchObject({ clips: 4, examined: 0 });
  });

  it('produces the same voice after being killed between any two writes', { timeout: 180_000 }, async () => {
    const [whole, broken] = ['all at once', 'bit by bit'].map((name) => path.join(folder, name)) as [string, string];
    await added(whole, '--speaker-encoder', encoder);
    const random = seededRandom(6);
    const ends: unknown[] = [];
    for (let run = 0; run < 6; run += 1) ends.push(await killedAfter(1 + Math.floor(12 * random()), broken));
    expect(ends).toContain('SIGKILL');
    expect(await added(broken, '--speaker-encoder', encoder)).toMatchObject({ clips: 4, speakers: [{ clips: 4 }] });
    expect(await keptIn(broken)).toEqual(await keptIn(whole));
  });

  it(
    'refuses to add a voice that another process is adding and ignores the lock of a killed process',
    { timeout: 60_000 },
    async () => {
      const dataDir = path.join(folder, 'twice');
      const first = start(adding(dataDir), ['ignore', 'ignore', 'pipe']);
      const exit = once(first, 'exit');
      const lines = createInterface({ input: first.stderr! })[Symbol.asyncIterator]();
      // It holds the lock once it reports a clip.
      await lines.next();
      first.kill('SIGSTOP');
      const second = {
        status: 1,
        stderr: expect.stringContaining(`Process ${first.pid} is using the voice "sailor"`),
      };
      expect(await dramatis('voices', ...adding(dataDir))).toMatchObject(second);
      expect(await dramatis('voices', ...on(dataDir, 'remove', 'sailor'))).toMatchObject(second);
      expect((await dramatis('voices', ...on(dataDir, 'list'))).stdout).toContain('sailor');
      first.kill('SIGKILL');
      await exit;
      expect(await added(dataDir)).toMatchObject({ clips: 4 });
    },
  );
});
