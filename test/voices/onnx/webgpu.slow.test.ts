import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { planExecution, watchExecution, type ExecutionReport } from '../../../voices/onnx/execution.ts';
import { openDnsmos } from '../../../voices/quality/dnsmos.ts';
import { openOnnxSpeaker } from '../../../voices/speakers/onnx-speaker.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { writeSmallCampplus, writeSmallP835, writeSmallWavlm } from '../../fakes/models/small-models.ts';
import { voiceLike } from '../../fakes/voice-like.ts';
import { webgpuEnvironment } from '../../fakes/network/webgpu-device.ts';

const environment = webgpuEnvironment('models run on WebGPU');
// The device process runs them.
Object.assign(process.env, environment);

const { signal } = new AbortController();
const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-webgpu-'));
afterAll(async () => {
  planExecution({ order: [], models: {} });
  await rm(folder, { recursive: true });
});
const campplus = await writeSmallCampplus(path.join(folder, 'campplus.onnx'));
const wavlm = await writeSmallWavlm(path.join(folder, 'wavlm.onnx'));
const p835 = await writeSmallP835(path.join(folder, 'p835.onnx'));
const clip = (ms: number) => ({ samples: voiceLike(ms, 16_000), sampleRate: 16_000, atMs: 0 });

/** Runs all models at once, those of voices in two threads each, and returns all numbers. */
async function hearAll(order: 'webgpu' | 'cpu'): Promise<number[]> {
  planExecution({ order: [order], models: {} });
  const one = await openOnnxSpeaker({ modelPath: campplus.modelPath, workers: 2, mostClips: 2, signal });
  const other = await openOnnxSpeaker({ modelPath: wavlm.modelPath, workers: 2, signal });
  const meter = await openDnsmos({ ...p835, workers: 2, signal });
  const vad = openSilero();
  onTestFinished(async () => void (await Promise.all([one, other, meter, vad].map((each) => each.close()))));
  const stream = vad.open();
  const lengthsMs = [1_000, 1_000, 1_010, 1_020, 1_030, 1_040];
  const [embeddings, qualities, speech] = await Promise.all([
    Promise.all(lengthsMs.flatMap((ms) => [one, other].map((encoder) => encoder.embed(clip(ms), { signal })))),
    Promise.all(lengthsMs.map((ms) => meter.rate(clip(ms), { signal }))),
    stream.score(voiceLike(100, 16_000).slice(0, vad.windowSamples)),
  ]);
  return [...embeddings.flatMap((each) => [...each]), ...qualities.flatMap((each) => Object.values(each)), speech];
}

/** The device processes, one for each execution plan. */
async function deviceProcesses(): Promise<number[]> {
  const tasks = await readdir('/proc/self/task');
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8')));
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean));
  const commands = await Promise.all(children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8')));
  return children.filter((_, place) => commands[place]?.includes('device-worker.ts')).map(Number);
}

describe.skipIf(environment === undefined)('models on WebGPU', () => {
  it('WebGPU runs several models at a time from several threads with the results of the CPU', async () => {
    const reports: ExecutionReport[] = [];
    const watch = watchExecution((report) => reports.push(report));
    onTestFinished(() => watch.close());
    const found = await hearAll('webgpu');
    expect(reports.map(({ provider, failed }) => [provider, failed])).toEqual(reports.map(() => ['webgpu', []]));
    expect(new Set(reports.map(({ model }) => model))).toEqual(new Set(['speakers', 'dnsmos', 'silero']));
    const expected = await hearAll('cpu');
    const differences = expected.map((value, place) => Math.abs(value - (found[place] as number)));
    expect(found).toHaveLength(expected.length);
    expect(Math.max(...differences)).toBeLessThan(1e-4);
  }, 60_000);

  it.skipIf(process.platform !== 'linux')(
    'after a driver crash a WebGPU model runs on the CPU with the same input',
    async () => {
      planExecution({ order: ['webgpu'], models: {} });
      const encoder = await openOnnxSpeaker({ modelPath: campplus.modelPath, signal });
      onTestFinished(() => encoder.close());
      const before = await encoder.embed(clip(1_000), { signal });
      const told = Promise.withResolvers<ExecutionReport>();
      const watch = watchExecution(told.resolve);
      onTestFinished(() => watch.close());
      for (const device of await deviceProcesses()) process.kill(device, 'SIGSEGV');
      const after = await encoder.embed(clip(1_000), { signal });
      expect(Math.max(...after.map((value, place) => Math.abs(value - (before[place] as number))))).toBeLessThan(1e-5);
      const { provider, failed } = await told.promise;
      expect([provider, failed[0]?.provider]).toEqual(['cpu', 'webgpu']);
    },
    60_000,
  );
});
