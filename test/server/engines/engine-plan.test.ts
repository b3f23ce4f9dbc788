import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../server/config/config.ts';
import { planEngines, type PlanSettings } from '../../../server/engines/engine-plan.ts';
import { voiceOf } from '../../../server/engines/voice-of.ts';
import { testFolder } from '../../fakes/test-folder.ts';

const folder = testFolder();

let files = 0;
async function fileWith(content: unknown): Promise<string> {
  const file = path.join(folder, `${(files += 1)}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Names of the engines of each stage. */
function namesIn(settings: PlanSettings): Record<string, string[]> {
  const { asr, llm, tts } = planEngines(settings, {});
  return Object.fromEntries(
    Object.entries({ asr, llm, tts }).map(([stage, chain]) => [stage, chain.map(({ name }) => name)]),
  );
}

/** The error of refused engines. */
async function refusal(content: unknown, settings: PlanSettings = {}): Promise<string> {
  const engines = await fileWith(content);
  try {
    planEngines({ engines, ...settings }, {});
  } catch (fault) {
    expect(fault).toBeInstanceOf(ConfigError);
    return (fault as ConfigError).message;
  }
  throw new Error('the engines were accepted');
}

const whisper = { kind: 'openai-transcriptions', baseUrl: 'http://127.0.0.1:1/v1', model: 'whisper' };
const kokoro = { kind: 'openai-speech', dialect: 'kokoro', baseUrl: 'http://127.0.0.1:2/v1' };

describe('planEngines', () => {
  it('plans the embedded engines by default', () => {
    expect(namesIn({})).toEqual({ asr: ['moonshine'], llm: ['retrieval'], tts: ['embedded'] });
  });

  it('plans the chat server of the LLM settings', () => {
    const settings = { llmBaseUrl: 'http://127.0.0.1:3/v1', llmModel: 'llama', llmApiKey: 'sk-secret' };
    expect(planEngines(settings, {}).llm).toMatchObject([
      {
        name: 'llm',
        kind: 'openai-chat',
        key: 'sk-secret',
        settings: { baseUrl: settings.llmBaseUrl, model: 'llama' },
      },
    ]);
  });

  it('plans the engine chains of the engines file', async () => {
    const engines = await fileWith({
      engines: { whisper, kokoro },
      asr: ['whisper', 'moonshine'],
      tts: 'kokoro',
    });
    expect(namesIn({ engines })).toEqual({
      asr: ['whisper', 'moonshine'],
      llm: ['retrieval'],
      tts: ['kokoro'],
    });
  });

  it('prefers a setting to the LLM address, that to the engines file and the file to the preset', async () => {
    const engines = await fileWith({
      preset: 'f5-tts',
      engines: { whisper, kokoro },
      llm: 'llama',
      tts: 'kokoro',
    });
    const llm = { llmBaseUrl: 'http://127.0.0.1:3/v1', llmModel: 'llama' };
    expect(namesIn({ engines })).toEqual({ asr: ['whisper'], llm: ['llama'], tts: ['kokoro'] });
    expect(namesIn({ engines, ...llm }).llm).toEqual(['llm']);
    expect(namesIn({ engines, ...llm, llm: ['retrieval'] }).llm).toEqual(['retrieval']);
    expect(namesIn({ engines, tts: ['f5-tts', 'embedded'] }).tts).toEqual(['f5-tts', 'embedded']);
  });

  it('merges the engines file into the engines of the preset', async () => {
    const engines = await fileWith({
      preset: 'f5-tts',
      engines: { 'f5-tts': { baseUrl: 'http://gpu:1/v1', concurrency: 2 } },
    });
    const [engine] = planEngines({ engines }, {}).tts;
    expect(engine).toMatchObject({
      kind: 'openai-speech',
      settings: { dialect: 'vllm-omni', model: 'SWivid/F5-TTS/F5TTS_v1_Base', baseUrl: 'http://gpu:1/v1' },
      callPolicy: { concurrency: 2 },
    });
  });

  it('reads an engine written in one line', () => {
    const [engine] = planEngines({ tts: ['openai-speech@http://127.0.0.1:8880/v1#kokoro'] }, {}).tts;
    expect(engine).toMatchObject({
      kind: 'openai-speech',
      settings: { baseUrl: 'http://127.0.0.1:8880/v1', model: 'kokoro' },
    });
  });

  it('separates call policy and key variable from an engine’s own settings', async () => {
    const engines = await fileWith({
      engines: { ear: { ...whisper, apiKeyEnv: 'EAR_KEY', concurrency: 2, timeouts: { firstByteMs: 5 }, voices: {} } },
      asr: 'ear',
    });
    const [engine] = planEngines({ engines }, { EAR_KEY: 'sk-secret' }).asr;
    expect(engine).toMatchObject({
      key: 'sk-secret',
      keyVariable: 'EAR_KEY',
      callPolicy: { concurrency: 2, timeouts: { firstByteMs: 5 } },
    });
    expect(engine?.settings).toEqual({ baseUrl: whisper.baseUrl, model: 'whisper' });
  });

  it('plans the turn detector of the engines file unless a setting names one', async () => {
    const engines = await fileWith({ turnDetector: { kind: 'smart-turn', model: 'weights/turn.onnx' } });
    expect(planEngines({}, {}).turnDetector).toEqual({ kind: 'prosody' });
    expect(planEngines({ engines }, {}).turnDetector).toEqual({
      kind: 'smart-turn',
      model: path.join(folder, 'weights/turn.onnx'),
    });
    expect(planEngines({ engines, smartTurn: '/other.onnx' }, {}).turnDetector).toMatchObject({ model: '/other.onnx' });
    expect(await refusal({ turnDetector: { kind: 'clairvoyance' } })).toContain('turnDetector.kind');
  });

  it('resolves reference clips relative to the engines file', async () => {
    const references = {
      '*': { wav: 'clips/martha.wav', transcript: 'Mind the step.', language: 'en', consent: 'Martha' },
    };
    const engines = await fileWith({ references });
    expect(planEngines({ engines }, {}).references['*']?.wav).toBe(path.join(folder, 'clips/martha.wav'));
  });
});

const clip = { wav: '/clips/martha.wav', transcript: 'Mind the step.', language: 'en', consent: 'Martha' };

describe('library voices', () => {
  /** Writes a voice as `dramatis voices add` does. */
  async function libraryWith(id: string, fits = true): Promise<string> {
    const dataDir = path.join(folder, `data-${id}`);
    const measured = { seconds: 4, snrDb: 30, pitch: null, speakingRate: null, quality: null, embedding: null };
    const place = { file: 'clips/a-001.wav', sha256: '0'.repeat(64), startMs: 0, endMs: 4_000 };
    const said = { transcript: 'Mind the step.', transcribedBy: 'text file', source: 'a.wav' };
    const reference = fits ? { ...place, ...said, measured, choice: { by: 'snr', score: 30, clips: 1 } } : null;
    const consent = { note: 'Martha said so', recordedAt: '2026-01-02T03:04:05Z' };
    await mkdir(path.join(dataDir, 'voices', id), { recursive: true });
    const record = { version: 1, id, language: 'en', licence: 'CC0', consent, reference };
    await writeFile(path.join(dataDir, 'voices', id, 'voice.json'), JSON.stringify(record));
    return dataDir;
  }
  const martha = { id: 'martha', voice: { gender: 'female', description: 'warm', reference: 'housekeeper' } } as const;

  it('resolves a library voice named in the engines file', async () => {
    const dataDir = await libraryWith('housekeeper');
    const engines = await fileWith({ references: { martha: { voice: 'housekeeper' } } });
    const clip = {
      voice: 'housekeeper',
      wav: path.join(dataDir, 'voices/housekeeper/clips/a-001.wav'),
      transcript: 'Mind the step.',
      language: 'en',
      consent: 'Martha said so',
    };
    expect(planEngines({ engines, dataDir }, {}).references['martha']).toEqual(clip);
  });

  it('gives a card’s library voice to engines that clone, unless the file assigns another', async () => {
    const { libraryVoice } = planEngines({ dataDir: await libraryWith('housekeeper') }, {});
    const casting = { voices: {}, references: {}, clones: true, libraryVoice };
    const voice = { kind: 'reference', id: 'housekeeper', consent: 'Martha said so' };
    expect(voiceOf(martha, casting)).toMatchObject(voice);
    expect(voiceOf(martha, { ...casting, voices: { female: 'coral' } })).toMatchObject(voice);
    expect(voiceOf(martha, { ...casting, voices: { martha: 'nova' } })).toMatchObject({ id: 'nova' });
    expect(voiceOf(martha, { ...casting, clones: false })).toEqual({ kind: 'preset', id: 'martha' });
    expect(voiceOf(martha, { ...casting, libraryVoice: () => undefined })).toEqual({ kind: 'preset', id: 'martha' });
  });

  it.each([
    ['nobody', 'voice_not_found'],
    ['Nobody/..', 'voice_invalid'],
    ['unfinished', 'voice_not_usable'],
  ])('refuses a library voice that cannot be cloned: %s', async (id, code) => {
    const { libraryVoice } = planEngines({ dataDir: await libraryWith('unfinished', false) }, {});
    expect(() => libraryVoice(id)).toThrow(expect.objectContaining({ code }));
  });
});

describe('invalid engines', () => {
  it.each([
    ['invalid JSON', '{"engines": ', 'not valid JSON'],
    ['an unknown setting', { recogniser: 'whisper' }, '"recogniser"'],
    ['a key in the file', { engines: { ear: { ...whisper, apiKeyEnv: 'sk-proj secret' } } }, 'environment variable'],
    ['an unknown engine name', { asr: 'wisper' }, 'There is no ASR engine "wisper". Use one of: moonshine'],
    ['an engine without a kind', { engines: { ear: { baseUrl: 'http://x' } } }, 'The engine "ear" has no "kind"'],
    ['an unknown kind', { engines: { ear: { kind: 'telepathy' } }, asr: 'ear' }, '"telepathy"'],
    ['a recognizer as synthesizer', { engines: { whisper }, tts: 'whisper' }, 'The kinds of TTS engines'],
    ['an impossible timeout', { engines: { ear: { ...whisper, timeouts: { firstByteMs: -1 } } } }, 'firstByteMs'],
    [
      'a clip without consent',
      { references: { '*': { ...clip, consent: '' } } },
      'references.*.consent: state in "consent" who',
    ],
    [
      'a clip whose consent is missing',
      { references: { '*': { ...clip, consent: undefined } } },
      'state in "consent" who',
    ],
    ['a misspelt field of a clip', { references: { '*': { ...clip, wave: 'x' } } }, '"wave"'],
    ['an invalid voice id', { references: { '*': { voice: '../martha' } } }, 'references.*.voice'],
    ['an unknown preset', { preset: 'f6-tts' }, 'Known: xtts, cosyvoice2'],
  ])('refuses an engines file with %s', async (_name, content, message) => {
    const said = await refusal(content);
    expect(said).toContain(message);
    expect(said).not.toContain('sk-');
  });

  it('refuses an engines file that is missing', () => {
    expect(() => planEngines({ engines: path.join(folder, 'nothing.json') }, {})).toThrow('cannot be read');
  });
});

describe('voiceOf', () => {
  const martha = { id: 'martha', voice: { gender: 'female', description: 'warm' } } as const;
  it.each([
    ['its own name', { voices: {}, references: {}, clones: true }, { id: 'martha' }],
    [
      'the voice the engine assigns to it',
      { voices: { martha: 'nova', '*': 'alloy' }, references: {}, clones: true },
      { id: 'nova' },
    ],
    [
      'the voice of its gender',
      { voices: { female: 'coral', '*': 'alloy' }, references: {}, clones: true },
      { id: 'coral' },
    ],
    [
      'its clip rather than the voice of its gender',
      { voices: { female: 'coral' }, references: { martha: clip }, clones: true },
      { wavPath: clip.wav },
    ],
    [
      'a preset voice if the engine cannot clone',
      { voices: { '*': 'alloy' }, references: { martha: clip }, clones: false },
      { id: 'alloy' },
    ],
  ])('gives the character %s as its voice', (_name, casting, voice) => {
    expect(voiceOf(martha, casting)).toMatchObject(voice);
  });
});
