import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { CallCost } from '../../../voices/calls/calls.ts';
import type { SpeechChunk, SpeechSynthesizer, Voice } from '../../../voices/synthesizer.ts';
import { adapter } from '../../../voices/synthesizers/openai-speech.ts';
import type { SpeechDialectName } from '../../../voices/synthesizers/openai-speech-dialects.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { behind, secretKey } from '../../conformance/upstream.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openSpeechServer, type SpeechShape } from '../../fakes/servers/speech-server.ts';
import { clipForTests, openEngine } from '../../rigs/voice-engine-rig.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const signal = new AbortController().signal;
const { voice: clone, folder } = await clipForTests();
const preset: Voice = { kind: 'preset', id: 'martha' };

function openAt(
  server: EngineServer,
  options: Record<string, unknown> = {},
  care: CallPolicy = {},
  log?: (cost: CallCost) => void,
) {
  return openEngine(adapter, { baseUrl: `${server.url}/v1`, model: 'small-voice', ...options }, care, log);
}

function subject(
  title: string,
  dialect: SpeechDialectName,
  shape: SpeechShape,
  options: {
    readonly route?: string;
    readonly voice?: Voice;
    readonly sampleRate?: number;
    readonly base?: string;
    readonly listsVoices?: boolean;
  } = {},
) {
  const { route = 'POST /v1/audio/speech', voice = preset, sampleRate = 24_000, base = '/v1', listsVoices } = options;
  const open = async (rate: number, given: object, care?: CallPolicy) => {
    const voices = voice === preset ? ['martha'] : [];
    const server = await openSpeechServer({ shape, sampleRate: rate, voices, listsVoices });
    const engine = openAt(server, { dialect, defaultVoice: 'martha', baseUrl: `${server.url}${base}`, ...given }, care);
    return behind(engine, server, route);
  };
  // Only a format without a header needs the setting, where the server's documentation names a rate.
  const headerless = ['pcm', 'sse', 'sse-misaligned', 'captioned'].includes(shape);
  return {
    title,
    voice,
    behindServer: true,
    open: (care?: CallPolicy) => open(sampleRate, {}, care),
    atRate: (rate: number) => open(rate, headerless ? { sampleRate: rate } : {}),
  };
}

synthesizerConformance(subject('openai-speech (raw sound)', 'openai', 'pcm'));
synthesizerConformance(subject('openai-speech (WAV without length)', 'kokoro', 'wav-open'));
synthesizerConformance(
  subject('openai-speech (captions)', 'kokoro-captioned', 'captioned', { route: 'POST /dev/captioned_speech' }),
);
synthesizerConformance(subject('openai-speech (listed voices)', 'speaches', 'pcm', { listsVoices: true }));
synthesizerConformance(subject('openai-speech (events, odd bytes)', 'vllm-omni', 'sse', { voice: clone }));
synthesizerConformance(subject('openai-speech (events, base64 cut anywhere)', 'vllm-omni', 'sse-misaligned'));
synthesizerConformance(
  subject('openai-speech (a WAV in every event)', 'sglang-omni', 'sse-wav-each', { voice: clone }),
);
synthesizerConformance(subject('openai-speech (whole WAV)', 'chatterbox', 'wav'));
synthesizerConformance(subject('openai-speech (vLLM-Omni as it streams)', 'vllm-omni', 'asked', { voice: clone }));
synthesizerConformance(
  subject('openai-speech (form, 16 kHz)', 'flashtts', 'pcm', {
    route: 'POST /clone_voice',
    voice: clone,
    sampleRate: 16_000,
  }),
);
synthesizerConformance(
  subject('openai-speech (path on the server)', 'indextts', 'wav', { route: 'POST /tts_url', voice: clone, base: '' }),
);

async function say(
  engine: SpeechSynthesizer,
  voice: Voice,
  options: { readonly speed?: number; readonly language?: string } = {},
): Promise<SpeechChunk[]> {
  return Array.fromAsync(engine.speak(phrasesOf('Mind the step.'), { signal, voice, ...options }));
}

describe('request to a speech server of each family', () => {
  it.each<[SpeechDialectName, Voice, Record<string, unknown>]>([
    ['openai', preset, { model: 'small-voice', input: 'Mind the step.', voice: 'martha', response_format: 'pcm' }],
    ['kokoro', preset, { voice: 'martha', response_format: 'pcm', stream: true }],
    ['speaches', preset, { response_format: 'pcm', sample_rate: 24_000 }],
    [
      'vllm-omni',
      clone,
      {
        ref_text: clone.transcript,
        ref_audio: expect.stringMatching(/^data:audio\/wav;base64,UklGR/),
        stream: true,
        stream_format: 'audio',
      },
    ],
    ['sidecar', clone, { language: 'en', ref_text: clone.transcript, response_format: 'pcm' }],
    ['sglang-omni', clone, { references: [{ text: clone.transcript, audio_path: '/refs/martha.wav' }], stream: true }],
    ['idiap', clone, { voice: '/refs/martha.wav' }],
    ['indextts', clone, { text: 'Mind the step.', audio_paths: ['/refs/martha.wav'] }],
    ['indextts2', clone, { text: 'Mind the step.', spk_audio_path: '/refs/martha.wav' }],
    ['xinference', preset, { response_format: 'wav', voice: 'martha' }],
  ])('a speech request is sent: %s', async (dialect, voice, body) => {
    await using server = await openSpeechServer();
    const baseUrl = dialect.startsWith('indextts') ? server.url : `${server.url}/v1`;
    const engine = openAt(server, { dialect, baseUrl, serverDirectory: '/refs/' });
    expect(await say(engine, voice, { language: 'en' })).not.toEqual([]);
    expect(server.requests.at(-1)?.json()).toMatchObject(body);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secretKey}`);
  });

  it.each<[SpeechDialectName, string, Record<string, string>]>([
    ['flashtts', 'reference_audio_file', { text: 'Mind the step.', reference_text: clone.transcript, stream: 'true' }],
    ['chatterbox-api', 'voice_file', { input: 'Mind the step.' }],
    [
      'xinference',
      'prompt_speech',
      { input: 'Mind the step.', model: 'small-voice', kwargs: `{"prompt_text":"${clone.transcript}"}` },
    ],
  ])('a speech request is sent: %s, with the clip in a form', async (dialect, field, fields) => {
    await using server = await openSpeechServer();
    await say(openAt(server, { dialect }), clone);
    const form = await server.requests[0]?.form();
    for (const [name, value] of Object.entries(fields)) expect(form?.get(name)).toBe(value);
    const clip = form?.get(field) as File;
    expect(Buffer.from(await clip.arrayBuffer()).toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('chatterbox gets the clip once', async () => {
    await using server = await openSpeechServer({ shape: 'wav', voices: ['martha'] });
    const engine = openAt(server, { dialect: 'chatterbox' });
    await say(engine, clone);
    await say(engine, clone);
    expect(server.requests.map(({ path: asked }) => asked)).toEqual([
      '/upload_reference',
      '/v1/audio/speech',
      '/v1/audio/speech',
    ]);
    expect(server.requests[1]?.json()['voice']).toMatch(/^[0-9a-f]{16}\.wav$/);
  });

  it('a speed other than 1 is requested as one response, because vLLM-Omni streams at normal speed only', async () => {
    await using server = await openSpeechServer();
    await say(openAt(server, { dialect: 'vllm-omni' }), preset, { speed: 1.2 });
    expect(server.requests[0]?.json()).toMatchObject({ speed: 1.2, response_format: 'wav' });
    expect(server.requests[0]?.json()).not.toHaveProperty('stream');
  });

  it('a server without the requested voice is asked for its default, and that is remembered', async () => {
    await using server = await openSpeechServer({ voices: ['alloy'] });
    const engine = openAt(server);
    await say(engine, preset);
    await say(engine, preset);
    expect(server.requests.map((request) => request.json()['voice'])).toEqual(['martha', 'alloy', 'alloy']);
  });
});

describe('captions of Kokoro-FastAPI', () => {
  it('words have the times that the server tells, and the chunks say so', async () => {
    await using server = await openSpeechServer({ shape: 'captioned' });
    const engine = openAt(server, { dialect: 'kokoro-captioned', model: undefined });
    const chunks = await Array.fromAsync(
      engine.speak(phrasesOf('Mind the step, sir, it is 10 feet. '), { signal, voice: preset }),
    );
    expect(chunks.map(({ text }) => text).join('')).toBe('Mind the step, sir, it is 10 feet. ');
    expect(chunks.map(({ wordsAreExact }) => wordsAreExact)).not.toContain(undefined);
    const words = chunks.flatMap(({ frame, words: told = [] }) =>
      told.map((word) => [word.text, Math.round(frame.atMs + word.startMs)]),
    );
    const texts = 'Mind the step, sir, it is 10 feet.'.split(' ');
    expect(words).toEqual(texts.map((word, at) => [word, at * 60]));
    expect(server.requests.at(-1)?.json()).toMatchObject({
      response_format: 'pcm',
      stream: true,
      return_timestamps: true,
    });
  });
});

describe('voices of speaches, which answers 200 and cuts the connection if it does not know one', () => {
  const speaches = { dialect: 'speaches' };

  it('speaches speaks as its default if it has no voice of the character’s name', async () => {
    await using server = await openSpeechServer({ voices: ['am_adam', 'af_heart'], listsVoices: true });
    const engine = openAt(server, speaches);
    expect(await say(engine, preset)).not.toEqual([]);
    await say(engine, { kind: 'preset', id: 'am_adam' });
    const asked = server.requests.map(({ method, path: route, bytes }) =>
      method === 'GET' ? route : (JSON.parse(String(bytes)) as { readonly voice: string }).voice,
    );
    expect(asked).toEqual(['/v1/models/small-voice', 'af_heart', 'am_adam']);
  });

  it('speaches speaks as the only voice of a model that lacks the default', async () => {
    await using server = await openSpeechServer({ voices: ['amy'], listsVoices: true });
    expect(await say(openAt(server, speaches), preset)).not.toEqual([]);
    expect(server.requests.at(-1)?.json()).toMatchObject({ voice: 'amy' });
  });

  it('speaches is asked for the voice as it is if it lists none', async () => {
    await using server = await openSpeechServer({ voices: ['martha'] });
    expect(await say(openAt(server, speaches), preset)).not.toEqual([]);
    expect(server.requests.at(-1)?.json()).toMatchObject({ voice: 'martha' });
  });
});

describe('reports on a speech server', () => {
  it('doctor reports whether the server has the model, and when it was loaded', async () => {
    await using server = await openSpeechServer();
    const says = await openAt(server).check?.({ signal });
    expect(says).toBe(`${new URL(server.url).host} has small-voice, which will be shut down on 2027-01-06`);
  });

  it('doctor reports the models a server has instead of the requested one', async () => {
    await using server = await openSpeechServer();
    const check = openAt(server, { model: 'large-voice' }).check?.({ signal });
    await expect(check).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
      detail: expect.stringContaining('small-voice'),
    });
  });

  it('the log has the cost of a call without its text', async () => {
    await using server = await openSpeechServer();
    const costs: CallCost[] = [];
    await say(
      openAt(server, {}, {}, (cost) => costs.push(cost)),
      preset,
    );
    expect(costs).toEqual([
      {
        engine: 'voice',
        outcome: 'ok',
        tries: 1,
        queuedMs: expect.any(Number),
        ms: expect.any(Number),
        firstMs: expect.any(Number),
        characters: 14,
        audioSeconds: 0.24,
      },
    ]);
  });

  it('a missing clip is reported by name', async () => {
    await using server = await openSpeechServer();
    const missing = { ...clone, wavPath: path.join(folder, 'nobody.wav') };
    await expect(say(openAt(server, { dialect: 'vllm-omni' }), missing)).rejects.toMatchObject({
      code: 'ENGINE_MISSING',
    });
    expect(server.requests).toEqual([]);
  });
});
