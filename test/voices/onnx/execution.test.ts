import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  planExecution,
  providersFor,
  watchExecution,
  type ExecutionPlan,
  type ExecutionReport,
} from '../../../voices/onnx/execution.ts';
import { openModelSession, type CreateSession } from '../../../voices/onnx/model-session.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const plan = (changes: Partial<ExecutionPlan> = {}): void =>
  planExecution({ order: ['cuda', 'webgpu', 'cpu'], models: {}, ...changes });
afterEach(() => planExecution({ order: [], models: {} }));

/** Sessions without a device; `faults` names the providers that cannot load or cannot run. */
function scripted(faults: Readonly<Record<string, 'load' | 'run'>>): { create: CreateSession; made: string[] } {
  const made: string[] = [];
  return {
    made,
    async create(provider) {
      made.push(provider);
      if (faults[provider] === 'load') throw new Error(`no ${provider} here\nat length`);
      const run = async (): Promise<never> => {
        if (faults[provider] === 'run') throw new Error(`${provider} is out of memory`);
        return { on: provider } as never;
      };
      return { inputNames: ['x'], outputNames: ['y'], inputMetadata: [], run };
    },
  };
}

/** Collects the next `count` reports. */
async function reports(count: number, work: () => Promise<unknown>): Promise<ExecutionReport[]> {
  const seen: ExecutionReport[] = [];
  const all = Promise.withResolvers<void>();
  const watch = watchExecution((report) => {
    seen.push(report);
    if (seen.length === count) all.resolve();
  });
  await work();
  await all.promise;
  watch.close();
  return seen;
}

describe('execution providers of a model', () => {
  it('the only provider is the CPU without a plan, and the CPU is last with one', () => {
    expect(providersFor('silero')).toEqual(['cpu']);
    plan({ order: ['cuda'], models: { silero: ['cpu', 'cuda'], dnsmos: ['webgpu'] } });
    expect(providersFor('smart-turn')).toEqual(['cuda', 'cpu']);
    expect(providersFor('silero')).toEqual(['cpu']);
    expect(providersFor('dnsmos')).toEqual(['webgpu', 'cpu']);
  });

  it('by default the providers are those proven for the model’s file', () => {
    plan({ order: [], proven: { [resolve('dnsmos.onnx')]: ['webgpu'] }, models: { speakers: ['cpu'] } });
    expect(providersFor('dnsmos', 'dnsmos.onnx')).toEqual(['webgpu', 'cpu']);
    expect(providersFor('dnsmos', 'other.onnx')).toEqual(['cpu']);
    expect(providersFor('speakers', 'dnsmos.onnx')).toEqual(['cpu']);
  });

  it('providers are tried in order, and each failure is reported in one line', async () => {
    plan();
    const { create, made } = scripted({ cuda: 'load' });
    const told = await reports(1, () => openModelSession('dnsmos', new Uint8Array(9), {}, create));
    expect(made).toEqual(['cuda', 'webgpu']);
    expect(told).toEqual([
      { model: 'dnsmos', provider: 'webgpu', failed: [{ provider: 'cuda', why: 'no cuda here' }] },
    ]);
  });

  it('a failed run falls back to the CPU for good, with the same input', async () => {
    plan({ order: ['cuda'] });
    const { create, made } = scripted({ cuda: 'run' });
    const told = await reports(2, async () => {
      const session = await openModelSession('speakers', new Uint8Array(9), {}, create);
      await expect(Promise.all([session.run({}), session.run({})])).resolves.toEqual([{ on: 'cpu' }, { on: 'cpu' }]);
      await expect(session.run({})).resolves.toEqual({ on: 'cpu' });
    });
    expect(made).toEqual(['cuda', 'cpu']);
    expect(told[1]).toEqual({
      model: 'speakers',
      provider: 'cpu',
      failed: [{ provider: 'cuda', why: 'cuda is out of memory' }],
    });
  });
});

it('Silero on unavailable CUDA and WebGPU scores all the same and reports what runs it', async () => {
  plan();
  const vad = openSilero();
  onTestFinished(() => vad.close());
  const told = await reports(1, async () => {
    const stream = vad.open();
    expect(await stream.score(new Float32Array(vad.windowSamples))).toBeLessThan(0.1);
    stream.close();
  });
  const [{ provider, failed }] = told as [ExecutionReport];
  expect(['cuda', 'webgpu', 'cpu']).toContain(provider);
  expect(failed).toHaveLength(['cuda', 'webgpu', 'cpu'].indexOf(provider));
});

it('a thread stays alive while it opens a session, without other work', async () => {
  const from = (file: string): string => JSON.stringify(new URL(`../../../voices/onnx/${file}`, import.meta.url).href);
  const script = `
    const { planExecution } = await import(${from('execution.ts')});
    const { openModelSession } = await import(${from('model-session.ts')});
    planExecution({ order: ['cuda'], models: {} });
    await openModelSession('dnsmos', new Uint8Array(9), {}).catch((fault) => console.log(fault.message));`;
  const folder = testFolder();
  await writeFile(join(folder, 'alone.mjs'), script);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'alone.mjs')]);
  // Neither the device nor the CPU loads such a file.
  expect(stdout).toContain('protobuf parsing failed');
});
