import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../server/config.ts';
import { planEngines, type PlanSettings } from '../../server/engine-config/engine-plan.ts';
import { presetIds, readPreset } from '../../server/engine-config/engines-file.ts';
import { voiceOf } from '../../server/engine-config/voice-of.ts';
import { synthesizerKinds } from '../../voices/open.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-engines-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function fileWith(content: unknown): Promise<string> {
  const file = path.join(folder, `${(files += 1)}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Names of the engines of each stage. */
function namesIn(settings: PlanSettings): Record<string, string[]> {
  const { recognizer, mind, synthesizer } = planEngines(settings, {});
  return Object.fromEntries(
    Object.entries({ recognizer, mind, synthesizer }).map(([stage, chain]) => [stage, chain.map(({ name }) => name)]),
  );
}

/** What is said about engines that are refused. */
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

describe('which engines serve', () => {
  it('are the embedded ones where nothing is said', () => {
    expect(namesIn({})).toEqual({ recognizer: ['moonshine'], mind: ['retrieval'], synthesizer: ['embedded'] });
  });

  it('is what the present settings of the chat server say', () => {
    const settings = { llmBaseUrl: 'http://127.0.0.1:3/v1', llmModel: 'llama', llmApiKey: 'sk-secret' };
    expect(planEngines(settings, {}).mind).toMatchObject([
      {
        name: 'llm',
        kind: 'openai-chat',
        key: 'sk-secret',
        settings: { baseUrl: settings.llmBaseUrl, model: 'llama' },
      },
    ]);
  });

  it('are the chains of the engines file', async () => {
    const engines = await fileWith({
      engines: { whisper, kokoro },
      recognizer: ['whisper', 'moonshine'],
      synthesizer: 'kokoro',
    });
    expect(namesIn({ engines })).toEqual({
      recognizer: ['whisper', 'moonshine'],
      mind: ['retrieval'],
      synthesizer: ['kokoro'],
    });
  });

  it('is the setting before the chat server’s address, that before the file, and the file before the preset', async () => {
    const engines = await fileWith({
      preset: 'f5-tts',
      engines: { whisper, kokoro },
      mind: 'llama',
      synthesizer: 'kokoro',
    });
    const llm = { llmBaseUrl: 'http://127.0.0.1:3/v1', llmModel: 'llama' };
    expect(namesIn({ engines })).toEqual({ recognizer: ['whisper'], mind: ['llama'], synthesizer: ['kokoro'] });
    expect(namesIn({ engines, ...llm }).mind).toEqual(['llm']);
    expect(namesIn({ engines, ...llm, mind: ['retrieval'] }).mind).toEqual(['retrieval']);
    expect(namesIn({ engines, synthesizer: ['f5-tts', 'embedded'] }).synthesizer).toEqual(['f5-tts', 'embedded']);
  });

  it('may be written in one line', () => {
    const [engine] = planEngines({ synthesizer: ['openai-speech@http://127.0.0.1:8880/v1#kokoro'] }, {}).synthesizer;
    expect(engine).toMatchObject({
      kind: 'openai-speech',
      settings: { baseUrl: 'http://127.0.0.1:8880/v1', model: 'kokoro' },
    });
  });

  it('take their care apart from their own settings, and their key from the environment', async () => {
    const engines = await fileWith({
      engines: { ear: { ...whisper, apiKeyEnv: 'EAR_KEY', concurrency: 2, timeouts: { firstByteMs: 5 }, voices: {} } },
      recognizer: 'ear',
    });
    const [engine] = planEngines({ engines }, { EAR_KEY: 'sk-secret' }).recognizer;
    expect(engine).toMatchObject({
      key: 'sk-secret',
      keyVariable: 'EAR_KEY',
      care: { concurrency: 2, timeouts: { firstByteMs: 5 } },
    });
    expect(engine?.settings).toEqual({ baseUrl: whisper.baseUrl, model: 'whisper' });
  });

  it('find their clips beside the engines file', async () => {
    const references = { '*': { wav: 'clips/martha.wav', transcript: 'Mind the step.', language: 'en' } };
    const engines = await fileWith({ references });
    expect(planEngines({ engines }, {}).references['*']?.wav).toBe(path.join(folder, 'clips/martha.wav'));
  });
});

describe('engines that cannot be', () => {
  it.each([
    ['no JSON', '{"engines": ', 'not valid JSON'],
    ['an unknown setting', { recogniser: 'whisper' }, '"recogniser"'],
    ['a key in the file', { engines: { ear: { ...whisper, apiKeyEnv: 'sk-proj secret' } } }, 'environment variable'],
    ['a name that nobody has', { recognizer: 'wisper' }, 'There is no recognizer "wisper". Name one of: moonshine'],
    ['an unknown kind', { engines: { ear: { kind: 'telepathy' } }, recognizer: 'ear' }, '"telepathy"'],
    ['an ear for a mouth', { engines: { whisper }, synthesizer: 'whisper' }, 'no synthesizer'],
    ['an impossible timeout', { engines: { ear: { ...whisper, timeouts: { firstByteMs: -1 } } } }, 'firstByteMs'],
    ['an unknown preset', { preset: 'f6-tts' }, 'There are: xtts, cosyvoice2'],
  ])('%s', async (_name, content, message) => {
    const said = await refusal(content);
    expect(said).toContain(message);
    expect(said).not.toContain('sk-');
  });

  it('a file that is not there', () => {
    expect(() => planEngines({ engines: path.join(folder, 'nothing.json') }, {})).toThrow('cannot be read');
  });
});

describe('the presets', () => {
  it.each(presetIds)('%s says what it is and what it needs', (id) => {
    expect(readPreset(id)).toMatchObject({ title: expect.stringMatching(/\w/), needs: expect.stringMatching(/\w/) });
  });

  it.each(presetIds)('%s names its engines', (id) => {
    const { recognizer, mind, synthesizer, omni } = planEngines(
      { preset: id },
      { DASHSCOPE_API_KEY: 'k', OPENAI_API_KEY: 'k' },
    );
    if (omni.length > 0) expect(omni).toHaveLength(1);
    else expect([recognizer, mind, synthesizer].map((chain) => chain.length)).toEqual([1, 1, 1]);
  });

  it.each([
    ['f5-tts', ['f5-triton', 'f5-server', 'f5-page']],
    ['e2-tts', ['e2-server', 'e2-page']],
    ['spark-tts', ['spark-triton', 'spark-page']],
    ['maskgct', ['maskgct-page']],
    ['cosyvoice2', ['cosyvoice2-triton']],
  ])('%s offers %o in place of its voice', async (preset, variants) => {
    for (const { name, kind, settings } of planEngines({ preset, synthesizer: variants }, {}).synthesizer) {
      expect(variants).toContain(name);
      const { adapter } = (await synthesizerKinds[kind]?.()) ?? {};
      expect(adapter?.settings.safeParse(settings)).toMatchObject({ success: true });
    }
  });

  it('name the successor of a model that has ended', () => {
    expect(readPreset('gpt-4o-audio').historical).toEqual([
      { model: 'gpt-4o-audio-preview-2024-12-17', ended: '2026-05-07', successor: 'gpt-audio-1.5' },
    ]);
  });
});

describe('the voice of a character', () => {
  const clip = { wav: '/clips/martha.wav', transcript: 'Mind the step.', language: 'en' };
  const martha = { id: 'martha', voice: { gender: 'female', description: 'warm' } } as const;
  it.each([
    ['its own name', { voices: {}, references: {}, clones: true }, { id: 'martha' }],
    [
      'the engine’s voice for it',
      { voices: { martha: 'nova', '*': 'alloy' }, references: {}, clones: true },
      { id: 'nova' },
    ],
    [
      'that of its gender',
      { voices: { female: 'coral', '*': 'alloy' }, references: {}, clones: true },
      { id: 'coral' },
    ],
    [
      'its clip before that of its gender',
      { voices: { female: 'coral' }, references: { martha: clip }, clones: true },
      { wavPath: clip.wav },
    ],
    [
      'no clip where the engine clones none',
      { voices: { '*': 'alloy' }, references: { martha: clip }, clones: false },
      { id: 'alloy' },
    ],
  ])('is %s', (_name, casting, voice) => {
    expect(voiceOf(martha, casting)).toMatchObject(voice);
  });
});
