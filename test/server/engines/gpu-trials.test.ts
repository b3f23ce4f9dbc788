import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readConfig, type Config } from '../../../server/config/config.ts';
import { candidateProviders, type Machine } from '../../../server/engines/gpu-detection.ts';
import { openProviderResults } from '../../../server/engines/provider-results.ts';
import { selectProviders, type ProveOptions } from '../../../server/gpu/select-providers.ts';
import type { TrialResult } from '../../../server/gpu/trials.ts';
import { testFolder } from '../../fakes/test-folder.ts';

/** A machine whose system lists these devices; with a model of DNSMOS in its data folder. */
async function machineWith(devices: readonly string[]): Promise<{ machine: Machine; config: Config; model: string }> {
  const root = testFolder();
  for (const device of devices) {
    await mkdir(path.join(root, 'dev', path.dirname(device)), { recursive: true });
    await writeFile(path.join(root, 'dev', device), '');
  }
  const model = path.join(root, 'dnsmos.onnx');
  await writeFile(model, 'weights');
  const config = readConfig({ flags: { dnsmos: model }, environment: { DRAMATIS_DATA_DIR: path.join(root, 'data') } });
  return { machine: { platform: 'linux', arch: 'x64', root }, config, model };
}

/** Trials with these results; records what was tried. */
function trials(results: Readonly<Record<string, TrialResult>>): Required<Pick<ProveOptions, 'tryModel'>> & {
  readonly tried: string[];
} {
  const tried: string[] = [];
  return {
    tried,
    async tryModel({ title }, provider, signal) {
      signal.throwIfAborted();
      tried.push(`${title} ${provider}`);
      return results[provider] ?? { why: 'no' };
    },
  };
}

const { signal } = new AbortController();
const cpu = { output: [1, 2], medianMs: 100 };
const crash = { why: 'its process ended with SIGSEGV' };

async function prove(
  config: Config,
  machine: Machine,
  tryModel: ProveOptions['tryModel'],
  ends = signal,
): Promise<string[]> {
  const lines: string[] = [];
  const tell: ProveOptions['tell'] = (level, text) => void lines.push(`${level}: ${text}`);
  await selectProviders(config, { signal: ends, tell, machine, ...(tryModel && { tryModel }) });
  return lines;
}

it('looks for a GPU only if the system lists one', async () => {
  const none = await machineWith([]);
  expect(candidateProviders(none.machine)).toEqual([]);
  const { tryModel, tried } = trials({});
  expect(await prove(none.config, none.machine, tryModel)).toEqual([]);
  expect(tried).toEqual([]);
  const of = async (...devices: string[]): Promise<unknown> => candidateProviders((await machineWith(devices)).machine);
  expect(await of('dri/renderD128')).toEqual(['webgpu']);
  expect(await of('dri/card0')).toEqual([]);
  expect(await of('nvidiactl')).toEqual(['cuda', 'webgpu']);
  expect(await of('dxg')).toEqual(['cuda', 'webgpu']);
  expect(candidateProviders({ platform: 'darwin', arch: 'arm64', root: '/' })).toEqual(['webgpu']);
});

it('uses the execution provider that gives the same results faster and tries it only once', async () => {
  const { machine, config, model } = await machineWith(['nvidiactl']);
  const { tryModel, tried } = trials({ cpu, cuda: crash, webgpu: { output: [1, 2.001], medianMs: 20 } });
  expect(await prove(config, machine, tryModel)).toEqual([
    'info: dnsmos P.835 will run on webgpu after the next start (cuda: its process ended with SIGSEGV; ' +
      "webgpu: works; 5.0 times the CPU's speed). `--providers cpu` keeps it on the CPU.",
  ]);
  expect(openProviderResults(config.dataDir, machine).proven).toEqual({ [model]: ['webgpu'] });
  expect(await prove(config, machine, tryModel)).toEqual([]);
  expect(tried).toEqual(['dnsmos P.835 cpu', 'dnsmos P.835 cuda', 'dnsmos P.835 webgpu']);
});

it.each([
  ['is slower', { output: [1, 2], medianMs: 101 }],
  ['is fast but wrong', { output: [1, 3], medianMs: 2 }],
  ['crashes', crash],
])('stays on the CPU and reports it in one line if an execution provider %s', async (_title, webgpu) => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  const [line, ...more] = await prove(config, machine, trials({ cpu, webgpu }).tryModel);
  expect(line).toMatch(/^warn: dnsmos P.835 stays on the CPU \(webgpu: .+\)\. .+ doctor --gpu/);
  expect(more).toEqual([]);
  expect(openProviderResults(config.dataDir, machine).proven).toEqual({ [model]: [] });
});

it('does not try an execution provider again that took the server down', async () => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  const meanwhile: boolean[] = [];
  const { tryModel } = trials({ cpu, webgpu: crash });
  await prove(config, machine, async (trial, provider, during) => {
    meanwhile.push(openProviderResults(config.dataDir, machine).knows(model, 'webgpu'));
    return tryModel(trial, provider, during);
  });
  expect(meanwhile).toEqual([true, true]);
});

it('repeats the GPU trial at the next start if the server was stopped during it', async () => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  const ends = new AbortController();
  const { tryModel } = trials({ cpu, webgpu: { output: [1, 2], medianMs: 1 } });
  const stops: ProveOptions['tryModel'] = async (trial, provider, during) => {
    if (provider === 'webgpu') ends.abort();
    return tryModel(trial, provider, during);
  };
  expect(await prove(config, machine, stops, ends.signal)).toEqual([]);
  expect(await prove(config, machine, tryModel)).toHaveLength(1);
  expect(openProviderResults(config.dataDir, machine).proven).toEqual({ [model]: ['webgpu'] });
});

it('keeps GPU trial results only for the same machine and model file', async () => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  await prove(config, machine, trials({ cpu, webgpu: { output: [1, 2], medianMs: 1 } }).tryModel);
  const elsewhere = await machineWith(['nvidiactl']);
  expect(openProviderResults(config.dataDir, { ...machine, arch: 'arm64' }).proven).toEqual({});
  expect(openProviderResults(config.dataDir, (await machineWith([])).machine).proven).toEqual({});
  await writeFile(model, 'other weights');
  expect(openProviderResults(config.dataDir, machine).proven).toEqual({});
  expect(openProviderResults(elsewhere.config.dataDir, elsewhere.machine).proven).toEqual({});
});

it('rewrites a broken file of GPU trial results', async () => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  await mkdir(config.dataDir);
  await writeFile(path.join(config.dataDir, 'gpu.json'), '{"machine":');
  await prove(config, machine, trials({ cpu, webgpu: { output: [1, 2], medianMs: 1 } }).tryModel);
  expect(await readFile(path.join(config.dataDir, 'gpu.json'), 'utf8')).toContain(JSON.stringify(model));
});

it('runs no GPU trial if the user names the execution providers', async () => {
  const { machine, config } = await machineWith(['dri/renderD128']);
  const { tryModel, tried } = trials({ cpu });
  expect(await prove({ ...config, providers: ['webgpu'] }, machine, tryModel)).toEqual([]);
  expect(tried).toEqual([]);
});

it('starts without a GPU trial if the model file is missing', async () => {
  const { machine, config, model } = await machineWith(['dri/renderD128']);
  await rm(model);
  const lines = await prove(config, machine, trials({}).tryModel);
  expect(lines).toEqual([expect.stringContaining('dnsmos P.835 stays on the CPU')]);
});
