import { describe, expect, it } from 'vitest';
import { chatKinds } from '../../agents/actor/open.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../../server/engines/voice-kinds.ts';
import { adapter as ears } from '../../voices/recognizers/openai-transcriptions.ts';
import { speechDialects, type SpeechDialectName } from '../../voices/synthesizers/openai-speech-dialects.ts';
import { adapter as mouths } from '../../voices/synthesizers/openai-speech.ts';
import { vadFrames } from '../fakes/speech-frames.ts';
import { openEngineServer } from '../fakes/servers/engine-server.ts';
import { openSpeechServer } from '../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../fakes/servers/transcription-server.ts';
import { streamOf } from '../fakes/spoken.ts';
import { tone } from '../fakes/vad.ts';
import { openEngine, say } from '../rigs/voice-engine-rig.ts';

const signal = new AbortController().signal;
const martha = { kind: 'preset', id: 'martha' } as const;

/** Servers that have a default where the request names no model. */
const withDefault = ['kokoro', 'kokoro-captioned', 'vllm-omni', 'sidecar', 'chatterbox-api', 'idiap', 'sglang-omni'];
/** Servers that require the field, and ignore what it says. */
const ignoring = ['chatterbox', 'indextts'];
const dialects = Object.keys(speechDialects) as SpeechDialectName[];

describe('engine without the setting "model"', () => {
  it.each(dialects)('%s speaks, as its server gets a model where it requires one', async (dialect) => {
    const needs = !withDefault.includes(dialect) && !ignoring.includes(dialect) && dialect !== 'indextts2';
    const shape = dialect === 'kokoro-captioned' ? 'captioned' : 'asked';
    await using server = await openSpeechServer({ shape, ...(needs && { withoutModel: 422 }) });
    const baseUrl = dialect.startsWith('indextts') ? server.url : `${server.url}/v1`;
    const engine = openEngine(mouths, { baseUrl, dialect, defaultVoice: 'martha' });
    expect(await say(engine, martha)).not.toEqual([]);
    if (ignoring.includes(dialect)) expect(server.requests.at(-1)?.json()['model']).toMatch(/\w/);
    if (withDefault.includes(dialect)) expect(server.requests.at(-1)?.json()).not.toHaveProperty('model');
  });

  it.each(['openai', 'speaches', 'vllm', 'xinference', 'funasr', 'whisper-cpp'])(
    '%s hears, as its server gets a model where it requires one',
    async (dialect) => {
      await using server = await openTranscriptionServer(
        undefined,
        ['openai', 'speaches', 'xinference'].includes(dialect),
      );
      const engine = openEngine(ears, { baseUrl: `${server.url}/v1`, dialect, partials: false });
      const frames = streamOf(vadFrames(tone(1_600, 16_000), 16_000));
      const parts = await Array.fromAsync(engine.transcribe(frames, { signal }));
      expect(parts.at(-1)).toMatchObject({ text: 'hello there' });
    },
  );

  it.each([mouths, ears])('doctor lists the models of a server from which one has to be chosen', async (adapter) => {
    await using server = await openEngineServer({
      'GET /v1/models': () => ({ body: '{"data":[{"id":"small-voice"},{"id":"large-voice"}]}' }),
    });
    const engine = openEngine<{ check?(options: object): Promise<string> }, never>(adapter as never, {
      baseUrl: `${server.url}/v1`,
    });
    await expect(engine.check?.({ signal })).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
      detail: expect.stringMatching(/small-voice, large-voice.*Set "model" of the engine "voice"/),
    });
  });

  it('Chatterbox and index-tts speak with their own voice for a character whose id they do not know', async () => {
    await using chatterbox = await openSpeechServer({ shape: 'wav', voices: ['Emily.wav'] });
    const bare = openEngine(mouths, { baseUrl: `${chatterbox.url}/v1`, dialect: 'chatterbox' });
    expect(await say(bare, martha)).not.toEqual([]);
    await using indextts = await openSpeechServer({ shape: 'wav', voices: ['jay_klee'], unknownVoice: 500 });
    const given = { baseUrl: indextts.url, dialect: 'indextts', defaultVoice: 'jay_klee' };
    expect(await say(openEngine(mouths, given), martha)).not.toEqual([]);
  });

  it('every other engine that has models requires the setting or has a default', async () => {
    const optional: string[] = [];
    for (const kinds of [recognizerKinds, synthesizerKinds, omniKinds, chatKinds]) {
      for (const [kind, load] of Object.entries(kinds)) {
        const { adapter } = await load();
        const parsed = adapter.settings.safeParse({ baseUrl: 'http://127.0.0.1:1' });
        const fields = parsed.success ? Object.keys((adapter.settings as { shape?: object }).shape ?? {}) : [];
        const model = (parsed.data as { readonly model?: unknown } | undefined)?.model;
        if (fields.includes('model') && model === undefined) optional.push(kind);
      }
    }
    // Triton's dialects have defaults of their own, and the contract of a sidecar makes the field optional.
    expect(optional).toEqual(['openai-transcriptions', 'openai-speech', 'sidecar', 'triton']);
  });
});
