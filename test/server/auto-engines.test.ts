import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { synthesizerSettings } from '../../voices/sherpa/synthesizer-settings.ts';
import { recognizerSettings } from '../../voices/sherpa/recognizer-settings.ts';
import { findModel, readCatalogue, type CatalogueModel } from '../../voices/models/catalogue.ts';
import { describeFiles } from '../../voices/models/installed.ts';
import { withInstalledJudges } from '../../server/engine-config/auto-engines.ts';
import { planEngines } from '../../server/engine-config/engine-plan.ts';
import { readConfig } from '../../server/config.ts';

const catalogue = readCatalogue();

/** A data folder in which these models are installed, with a few bytes for weights. */
async function dataDirWith(...ids: string[]): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-auto-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
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
  recognizer: plan.recognizer.map(({ name }) => name),
  mind: plan.mind.map(({ name }) => name),
  synthesizer: plan.synthesizer.map(({ name }) => name),
});

it('picks the best of what is installed for each stage, and says so', async () => {
  const dataDir = await dataDirWith(
    'whisper-turbo',
    'paraformer-zh-en',
    'qwen3-4b',
    'kokoro-v1.1-int8',
    'smart-turn-v3.2',
  );
  const plan = planEngines({ auto: true, dataDir }, {});
  expect(namesOf(plan)).toEqual({
    recognizer: ['paraformer-zh-en', 'moonshine'],
    mind: ['qwen3-4b', 'retrieval'],
    synthesizer: ['kokoro-v1.1-int8', 'embedded'],
  });
  expect(plan.turns).toMatchObject({ kind: 'smart-turn', model: expect.stringContaining(dataDir) as string });
  expect(plan.notes).toEqual([
    expect.stringContaining(
      'recognizer paraformer-zh-en (installed), mind qwen3-4b (installed), synthesizer kokoro-v1.1-int8 (installed), turns smart-turn',
    ),
  ]);
});

it('takes nothing that is not installed, is damaged, or was not asked for', async () => {
  const dataDir = await dataDirWith('sense-voice', 'moonshine-base-en', 'zipvoice-zh-en');
  await writeFile(path.join(dataDir, 'models', 'sense-voice', 'model.int8.onnx'), 'cut');
  const plan = planEngines({ auto: true, dataDir }, {});
  expect(namesOf(plan)).toEqual({
    recognizer: ['moonshine-base-en', 'moonshine'],
    mind: ['retrieval'],
    synthesizer: ['embedded'],
  });
  expect(plan.notes[0]).toContain('synthesizer embedded (embedded; none installed)');
  expect(namesOf(planEngines({ dataDir }, {})).recognizer).toEqual(['moonshine']);
});

it('leaves alone what the user has set', async () => {
  const dataDir = await dataDirWith('sense-voice', 'qwen3-8b', 'campplus-zh-en', 'dnsmos');
  const llm = { llmBaseUrl: 'http://127.0.0.1:11434/v1', llmModel: 'mine' };
  const plan = planEngines({ auto: true, dataDir, recognizer: ['moonshine'], ...llm }, {});
  expect(namesOf(plan)).toEqual({ recognizer: ['moonshine'], mind: ['llm'], synthesizer: ['embedded'] });
  expect(withInstalledJudges({ auto: true, dataDir, speakerEncoder: '/mine.onnx' })).toMatchObject({
    speakerEncoder: '/mine.onnx',
    dnsmos: path.join(dataDir, 'models', 'dnsmos', 'sig_bak_ovr.onnx'),
    dnsmosP808: path.join(dataDir, 'models', 'dnsmos', 'model_v8.onnx'),
  });
  expect(readConfig({ flags: { auto: true }, environment: {}, file: undefined as never }).auto).toBe(true);
});

it('describes every model of the catalogue as its engine wants it', async () => {
  const sherpa = catalogue.filter((model) => model.engine?.kind === 'sherpa-onnx' && model.role !== 'punctuation');
  expect(sherpa.length).toBeGreaterThan(8);
  for (const { engine, files, role } of sherpa) {
    const { kind: _kind, voices: _voices, ...settings } = engine ?? { kind: '' };
    const weights = Object.fromEntries(Object.entries(files).map(([name, place]) => [name, { path: place }]));
    const schema = role === 'recognizer' ? recognizerSettings : synthesizerSettings;
    expect(() => schema.parse({ ...settings, files: weights })).not.toThrow();
  }
  const dataDir = await dataDirWith('zipformer-zh-en', 'punctuation-zh-en');
  const [ear] = planEngines({ auto: true, dataDir }, {}).recognizer;
  expect(() => recognizerSettings.parse(ear?.settings)).not.toThrow();
  expect(ear?.settings['punctuation']).toMatchObject({ family: 'ct-transformer' });
});
