import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openDeviceSessions, type CreateOnDevice, type DeviceSessions } from '../../../voices/onnx/device-sessions.ts';
import { keptForTests } from '../../rigs/voice-engine-rig.ts';

const { folder } = await keptForTests();

/** Sessions without a device. */
function scripted(fault?: 'load' | 'run'): { create: CreateOnDevice; made: unknown[]; released: () => number } {
  const made: unknown[] = [];
  let released = 0;
  return {
    made,
    released: () => released,
    async create(_file, { executionProviders }) {
      made.push(executionProviders);
      if (fault === 'load') throw new Error('no such layer\nat length');
      const run = async (): Promise<never> => {
        if (fault === 'run') throw new Error('the device is lost');
        return { y: { type: 'float32', data: Float32Array.of(2), dims: [1], location: 'cpu' } } as never;
      };
      const release = async (): Promise<void> => void (released += 1);
      return { inputNames: ['x'], outputNames: ['y'], inputMetadata: [], run, release };
    },
  };
}

const open = async (sessions: DeviceSessions, file: string | Uint8Array): Promise<string> => {
  const opened = await sessions.open({ provider: 'webgpu', file, options: {} });
  return (opened as { session: string }).session;
};
const feeds = [['x', { type: 'float32', data: Float32Array.of(1), dims: [1] }]] as const;
const weights = (first: number): Uint8Array => Uint8Array.from({ length: 1_500_000 }, () => first);

it('a model that several threads load is on the device once', async () => {
  const { create, made } = scripted();
  const sessions = openDeviceSessions(create, undefined);
  const file = path.join(folder, 'model.onnx');
  await writeFile(file, 'one');
  const [one, other] = await Promise.all([open(sessions, file), open(sessions, file)]);
  expect(one).toBe(other);
  expect(made).toEqual([['webgpu']]);
  await writeFile(file, 'another');
  expect(await open(sessions, file)).not.toBe(one);
  const { outputs } = (await sessions.run({ run: one, feeds })) as { outputs: unknown };
  expect(outputs).toEqual([['y', { type: 'float32', data: Float32Array.of(2), dims: [1] }]]);
});

it('the device cap limits every model, and each counts once', async () => {
  const sessions = openDeviceSessions(scripted().create, 5);
  await open(sessions, weights(1));
  await open(sessions, weights(1));
  await expect(open(sessions, weights(2))).rejects.toThrow('DRAMATIS_GPU_MEMORY_MB), needs 3 MB');
});

it('a failed model frees its device memory for the next and is not tried again', async () => {
  const { create, made, released } = scripted('run');
  const sessions = openDeviceSessions(create, 5);
  const session = await open(sessions, weights(1));
  await expect(sessions.run({ run: session, feeds })).rejects.toThrow('the device is lost');
  await expect(sessions.run({ run: session, feeds })).rejects.toThrow('the device is lost');
  await expect(open(sessions, weights(1))).rejects.toThrow('the device is lost');
  await open(sessions, weights(2));
  expect([made.length, released()]).toEqual([2, 1]);
});

it('a load error on the device is one line', async () => {
  const sessions = openDeviceSessions(scripted('load').create, undefined);
  await expect(open(sessions, weights(1))).rejects.toThrow(/^no such layer$/);
});
