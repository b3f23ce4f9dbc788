import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { synthesizerSettings } from '../../../voices/sherpa/synthesizer-settings.ts';
import { recognizerSettings } from '../../../voices/sherpa/recognizer-settings.ts';
import { findModel, readCatalogue, type CatalogueModel } from '../../../voices/models/catalogue.ts';
import { describeFiles } from '../../../voices/models/installed.ts';
import { withInstalledJudges } from '../../../server/engines/auto-engines.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { planIntactEngines } from '../../../server/engines/plan-intact.ts';
import { readConfig } from '../../../server/config/config.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const catalogue = readCatalogue();

/** A data folder in which these models are installed, with a few bytes for weights. */
async function dataDirWith(...ids: string[]): Promise<string> {
  const dataDir = testFolder();
  for (const id of ids) await install(findModel(catalogue, id), path.join(dataDir, 'models', id));
  return dataDir;
}

async function install(model: CatalogueModel, folder: string): Promise<void> {
  for (const file of Object.values(model.files)) {
    const place = path.join(folder, file, ...(file === 'espeak-ng-data' ? ['phontab'] : []));
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, file);
  }
  const downloads = model.downloads.map(({ file, sha256 }) => {
    return { file, sha256: sha256 === '' ? 'a'.repeat(64) : sha256, pinned: sha256 === '' };
  });
  const record = { id: model.id, downloads, files: await describeFiles(folder, model) };
  await writeFile(path.join(folder, 'installed.json'), JSON.stringify(record));
}

const namesOf = (plan: ReturnType<typeof planEngines>) => ({
  asr: plan.asr.map(({ name }) => name),
  llm: plan.llm.map(({ name }) => name),
  tts: plan.tts.map(({ name }) => name),
});

it('picks the best installed engine for each stage with --auto and reports it', async () => {
  const dataDir = await dataDirWith(
    'whisper-turbo',
    'paraformer-zh-en',
    'qwen3-4b',
    'kokoro-v1.1-int8',
    'smart-turn-v3.2',
  );
  const plan = planEngines({ auto: true, dataDir }, {});
  expect(namesOf(plan)).toEqual({
    asr: ['paraformer-zh-en', 'moonshine'],
    llm: ['qwen3-4b', 'retrieval'],
    tts: ['kokoro-v1.1-int8', 'embedded'],
  });
  expect(plan.turnDetector).toMatchObject({ kind: 'smart-turn', model: expect.stringContaining(dataDir) as string });
  expect(plan.notes).toEqual([
    expect.stringContaining(
      'ASR paraformer-zh-en (installed), LLM qwen3-4b (installed), TTS kokoro-v1.1-int8 (installed), turn detector smart-turn',
    ),
  ]);
});

it('picks no engine with --auto that is missing, damaged or not asked for', async () => {
  const dataDir = await dataDirWith('sense-voice', 'moonshine-base-en', 'zipvoice-zh-en');
  await writeFile(path.join(dataDir, 'models', 'sense-voice', 'model.int8.onnx'), 'cut');
  const plan = planEngines({ auto: true, dataDir }, {});
  expect(namesOf(plan)).toEqual({
    asr: ['moonshine-base-en', 'moonshine'],
    llm: ['retrieval'],
    tts: ['embedded'],
  });
  expect(plan.notes[0]).toContain('TTS embedded (embedded; none installed)');
  expect(namesOf(planEngines({ dataDir }, {})).asr).toEqual(['moonshine']);
});

it('keeps what the user has set under --auto', async () => {
  const dataDir = await dataDirWith('sense-voice', 'qwen3-8b', 'campplus-zh-en', 'dnsmos');
  const llm = { llmBaseUrl: 'http://127.0.0.1:11434/v1', llmModel: 'mine' };
  const plan = planEngines({ auto: true, dataDir, asr: ['moonshine'], ...llm }, {});
  expect(namesOf(plan)).toEqual({ asr: ['moonshine'], llm: ['llm'], tts: ['embedded'] });
  expect(withInstalledJudges({ auto: true, dataDir, speakerEncoder: '/mine.onnx' })).toMatchObject({
    speakerEncoder: '/mine.onnx',
    dnsmos: path.join(dataDir, 'models', 'dnsmos', 'sig_bak_ovr.onnx'),
    dnsmosP808: path.join(dataDir, 'models', 'dnsmos', 'model_v8.onnx'),
  });
  expect(readConfig({ flags: { auto: true }, environment: {}, file: undefined as never }).auto).toBe(true);
});

it('describes every model of the catalogue as its engine’s settings require', async () => {
  const sherpa = catalogue.filter((model) => model.engine?.kind === 'sherpa-onnx' && model.role !== 'punctuation');
  expect(sherpa.length).toBeGreaterThan(8);
  for (const { engine, files, role } of sherpa) {
    const { kind: _kind, voices: _voices, ...settings } = engine ?? { kind: '' };
    const weights = Object.fromEntries(Object.entries(files).map(([name, place]) => [name, { path: place }]));
    const schema = role === 'asr' ? recognizerSettings : synthesizerSettings;
    expect(() => schema.parse({ ...settings, files: weights })).not.toThrow();
  }
  const dataDir = await dataDirWith('zipformer-zh-en', 'punctuation-zh-en');
  const [ear] = planEngines({ auto: true, dataDir }, {}).asr;
  expect(() => recognizerSettings.parse(ear?.settings)).not.toThrow();
  expect(ear?.settings['punctuation']).toMatchObject({ family: 'ct-transformer' });
});

describe('damaged model', () => {
  it('passes over a damaged model for the next best and explains how to repair it', async () => {
    const dataDir = await dataDirWith('moonshine-base-en', 'sense-voice', 'smart-turn-v3.2', 'campplus-zh-en');
    const [best] = namesOf(planEngines({ auto: true, dataDir }, {})).asr;
    const { plan: whole } = await planIntactEngines({ auto: true, dataDir });
    expect(whole.notes).toHaveLength(1);
    for (const id of [best ?? '', 'smart-turn-v3.2', 'campplus-zh-en']) await damage(dataDir, id);
    const { plan, settings } = await planIntactEngines({ auto: true, dataDir });
    const next = best === 'sense-voice' ? 'moonshine-base-en' : 'sense-voice';
    expect(namesOf(plan).asr).toEqual([next, 'moonshine']);
    expect(plan.turnDetector).toEqual({ kind: 'prosody' });
    expect(withInstalledJudges(settings)).not.toHaveProperty('speakerEncoder');
    const told = plan.notes
      .slice(1)
      .map(
        (note) =>
          /^--auto skipped (\S+), which is damaged or not the catalogue’s version\. .*`dramatis models pull \1 --again`/.exec(
            note,
          )?.[1],
      );
    expect(new Set(told)).toEqual(new Set([best, 'smart-turn-v3.2', 'campplus-zh-en']));
    expect(plan.notes).toHaveLength(4);
  });

  it('passes over a truncated model', async () => {
    const dataDir = await dataDirWith('sense-voice');
    await writeFile(path.join(dataDir, 'models', 'sense-voice', 'model.int8.onnx'), 'cut');
    const { plan } = await planIntactEngines({ auto: true, dataDir });
    expect(plan.notes[1]).toMatch(/^--auto skipped sense-voice, which is damaged/);
  });

  it('does not hash models that are not used, and leaves a named model to its engine', async () => {
    const dataDir = await dataDirWith('sense-voice', 'smart-turn-v3.2');
    await damage(dataDir, 'sense-voice');
    await damage(dataDir, 'smart-turn-v3.2');
    const [file = ''] = Object.values(findModel(catalogue, 'smart-turn-v3.2').files);
    const smartTurn = path.join(dataDir, 'models', 'smart-turn-v3.2', file);
    const { plan } = await planIntactEngines({ auto: true, dataDir, asr: ['moonshine'], smartTurn });
    expect(plan.turnDetector).toMatchObject({ model: smartTurn });
    expect(plan.notes).toHaveLength(1);
  });
});

/** Other bytes of the same length. */
async function damage(dataDir: string, id: string): Promise<void> {
  const [file = ''] = Object.values(findModel(catalogue, id).files);
  const place = path.join(dataDir, 'models', id, file);
  await writeFile(place, 'x'.repeat((await stat(place)).size));
}
