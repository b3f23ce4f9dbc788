import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findingOf } from '../../../server/gpu/trials.ts';
import { readConfig } from '../../../server/config/config.ts';
import { openEngines } from '../../../server/engines/engines.ts';
import { cudaLibrary } from '../../../voices/onnx/cuda-library.ts';
import { writeSmallCampplus } from '../../fakes/models/small-models.ts';
import { providerFallbackNotes } from '../../../server/telemetry/provider-fallback-notes.ts';
import { testFolder } from '../../fakes/test-folder.ts';

it('logs one line per model about an execution provider fallback once the log is open', () => {
  const notes = providerFallbackNotes();
  const failed = [{ provider: 'cuda', why: 'no library' }] as const;
  for (let thread = 0; thread < 3; thread += 1) notes.take({ model: 'moonshine', provider: 'cpu', failed });
  notes.take({ model: 'silero', provider: 'cpu', failed: [] });
  const lines: string[] = [];
  notes.tellTo((_facts, text) => void lines.push(text));
  notes.take({ model: 'moonshine', provider: 'cpu', failed });
  expect(lines).toEqual([
    'moonshine runs on cpu, because other providers failed (cuda: no library). See `dramatis doctor --gpu`.',
  ]);
});

it('reports which execution provider serves each model after a fallback', async () => {
  const lines: string[] = [];
  const notes = providerFallbackNotes();
  notes.tellTo((_facts, text) => void lines.push(text));
  const engines = await openEngines({ workers: 1, providers: ['cuda', 'cpu', 'moonshine=cpu'] }, undefined, notes.take);
  onTestFinished(() => engines.close());
  await engines.warm(new AbortController().signal);
  expect(engines.providers).toMatchObject({ moonshine: 'cpu' });
  const { silero } = engines.providers;
  expect(engines.summary.find(({ stage }) => stage === 'vad')).toMatchObject({ provider: silero });
  if (silero === 'cuda') return expect(lines).toEqual([]);
  expect(lines).toEqual([expect.stringMatching(/^silero runs on cpu, because other providers failed \(cuda: .+\)\./)]);
  if (!existsSync(cudaLibrary())) expect(lines[0]).toContain('it is not installed: see “On a GPU” in the README');
});

it('reports which execution provider runs the speaker encoder, which is loaded first', async () => {
  const folder = testFolder();
  const { modelPath } = await writeSmallCampplus(path.join(folder, 'campplus.onnx'));
  const told = Promise.withResolvers<unknown>();
  const config = { workers: 1, providers: ['cpu'], speakerEncoder: modelPath };
  const engines = await openEngines(config, undefined, told.resolve);
  onTestFinished(() => engines.close());
  await told.promise;
  expect(engines.providers).toMatchObject({ speakers: 'cpu' });
  await engines.warm(new AbortController().signal);
  expect(engines.providers).toMatchObject({ speakers: 'cpu', silero: 'cpu' });
});

it('refuses an unknown execution provider or model name', () => {
  const read = (providers: string) => readConfig({ flags: { providers }, environment: {} }).providers;
  expect(read('cuda, webgpu,silero=cpu,dnsmos=cuda+cpu')).toEqual(['cuda', 'webgpu', 'silero=cpu', 'dnsmos=cuda+cpu']);
  for (const wrong of ['rocm', 'silero=rocm', 'flite=cuda', 'silero='])
    expect(() => read(wrong)).toThrow('cuda, webgpu, cpu');
});

it('warns in doctor --gpu of an execution provider that is fast and wrong', () => {
  const base = { output: [1, 2, 4], medianMs: 8 };
  const on = (output: number[]) => findingOf('dnsmos', 'cuda', { output, medianMs: 2 }, base);
  expect(on([1, 2, 4.001])).toMatchObject({ ok: true, says: "works; 4.0 times the CPU's speed" });
  expect(on([1, 2, 3])).toMatchObject({ ok: false, difference: 0.25 });
  expect(on([1, Number.NaN, 4])).toMatchObject({ ok: false });
  expect(on([1, 2])).toMatchObject({ ok: false });
});
