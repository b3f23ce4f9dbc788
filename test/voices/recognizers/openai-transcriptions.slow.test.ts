import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../../voices/audio.ts';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { Queue } from '../../../voices/runtime/streams.ts';
import { adapter } from '../../../voices/recognizers/openai-transcriptions.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../voices/recognizer.ts';
import { recognizerConformance } from '../../conformance/recognizer.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { behind, secretKey } from '../../conformance/upstream.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';
import { openTranscriptionServer, type TranscriptionResult } from '../../fakes/servers/transcription-server.ts';
import { tone } from '../../fakes/vad.ts';
import { openEngine } from '../../rigs/voice-engine-rig.ts';
import { streamOf } from '../../fakes/spoken.ts';

const signal = new AbortController().signal;
const speech = tone(1_600, 16_000);

function openAt(server: EngineServer, options: Record<string, unknown> = {}, care: CallPolicy = {}) {
  return openEngine(adapter, { baseUrl: `${server.url}/v1`, model: 'whisper', ...options }, care);
}

function subject(
  title: string,
  dialect: string,
  {
    route = 'POST /v1/audio/transcriptions',
    events,
  }: { readonly route?: string; readonly events?: TranscriptionResult['events'] } = {},
) {
  const openHearing = async (text: string, care?: CallPolicy) => {
    const server = await openTranscriptionServer({ text, ...(events && { events }) });
    // Requests for partial transcripts would consume injected faults, depending on how fast the test runs.
    return behind(openAt(server, { dialect, partials: false }, care), server, route);
  };
  return {
    title,
    speech,
    says: /^hello there$/,
    behindServer: true,
    open: (care?: CallPolicy) => openHearing('hello there', care),
    openHearing: (text: string) => openHearing(text),
  };
}

recognizerConformance(subject('openai-transcriptions (OpenAI)', 'openai'));
recognizerConformance(subject('openai-transcriptions (speaches)', 'speaches'));
recognizerConformance(subject('openai-transcriptions (whisper.cpp)', 'whisper-cpp', { route: 'POST /inference' }));
recognizerConformance(subject('openai-transcriptions (OpenAI, by events)', 'openai', { events: 'openai' }));
recognizerConformance(subject('openai-transcriptions (vLLM, by events)', 'vllm', { events: 'vllm' }));

async function hear(engine: SpeechRecognizer, language?: string): Promise<TranscriptPart[]> {
  return Array.fromAsync(
    engine.transcribe(streamOf(vadFrames(speech, 16_000)), { signal, ...(language === undefined ? {} : { language }) }),
  );
}

async function finalOf(
  hearing: TranscriptionResult,
  options: Record<string, unknown> = {},
): Promise<TranscriptPart | undefined> {
  await using server = await openTranscriptionServer(hearing);
  return (await hear(openAt(server, { dialect: 'speaches', partials: false, ...options }))).at(-1);
}

describe('recognizer behind a transcription endpoint', () => {
  it('the recognizer sends its request in a pause, before the end of the utterance is certain', async () => {
    await using server = await openTranscriptionServer();
    const frames = new Queue<AudioFrame>();
    const parts = openAt(server).transcribe(frames, { signal })[Symbol.asyncIterator]();
    for (const frame of vadFrames(speech, 16_000)) frames.push(frame);
    let heard: unknown;
    void parts.next().then(({ value }) => (heard = value));
    // The partial transcript comes with a frame after the answer; turn detector and speculative replies wait for it.
    const silence = { samples: new Float32Array(512), sampleRate: 16_000, atMs: 0, voiced: false };
    const heardSoFar = (): unknown => (frames.push(silence), heard);
    await expect.poll(heardSoFar).toEqual({ type: 'transcript-partial', text: 'hello there' });
    frames.end();
    expect((await parts.next()).value).toMatchObject({ type: 'transcript-final', text: 'hello there' });
    expect(server.requests).toHaveLength(1);
    expect((await server.seconds())[0]).toBeGreaterThan(1.6);
  });

  it.each(['openai', 'vllm', 'speaches'] as const)(
    'the recognizer shows the words of %s as they arrive',
    async (events) => {
      await using server = await openTranscriptionServer({ text: 'hello there my dear', events });
      const engine = openAt(server, { dialect: events, streams: true, partials: false, verbose: false });
      const heard: string[] = [];
      server.breaks({ kind: 'silence', after: 0.5 }, { times: 1 });
      const frames = new Queue<AudioFrame>();
      const listening = (async () => {
        for await (const { type, text } of engine.transcribe(frames, { signal })) heard.push(`${type} ${text}`);
      })();
      for (const frame of [...vadFrames(speech, 16_000)].slice(0, -15)) frames.push(frame);
      // Half of the response has arrived when the speech continues: its words are shown, and a new request is sent.
      await expect
        .poll(() => {
          frames.push({ samples: new Float32Array(512), sampleRate: 16_000, atMs: 0, voiced: false });
          return heard;
        })
        .toEqual([expect.stringMatching(/^transcript-partial hello/)]);
      for (const frame of vadFrames(speech, 16_000)) frames.push(frame);
      frames.end();
      await listening;
      expect(heard.at(-1)).toBe('transcript-final hello there my dear');
      expect((await server.requests[0]?.form())?.get('stream')).toBe('true');
    },
  );

  it.each([
    ['an error', 'data: {"error":{"code":"server_error","message":"private words"}}\n\n', 'ENGINE_UNAVAILABLE'],
    ['half a text', 'data: {"type":"transcript.text.delta","delta":"hel"}\n\n', 'ENGINE_UNAVAILABLE'],
    ['something else', 'data: {"type": 7}\n\n', 'ENGINE_BAD_REPLY'],
    ['nothing', '\n\n', 'ENGINE_BAD_REPLY'],
  ])('the recognizer fails if the events report %s', async (_name, body, code) => {
    const headers = { 'content-type': 'text/event-stream' };
    await using server = await openEngineServer({ 'POST /v1/audio/transcriptions': () => ({ headers, body }) });
    const fault = (await hear(openAt(server, {}, { retries: 0 })).catch((cause: unknown) => cause)) as Error;
    expect(fault).toMatchObject({ code });
    expect(fault.message).not.toContain('private');
  });

  it('the recognizer drops its request when speech continues, and then sends the whole utterance', async () => {
    await using server = await openTranscriptionServer();
    server.breaks({ kind: 'hang' }, { times: 1 });
    const engine = openAt(server);
    const frames = new Queue<AudioFrame>();
    const listening = Array.fromAsync(engine.transcribe(frames, { signal }));
    for (const frame of vadFrames(speech, 16_000)) frames.push(frame);
    await expect.poll(() => server.open).toBe(1);
    for (const frame of vadFrames(speech, 16_000)) frames.push(frame);
    await expect.poll(() => server.abandoned).toBe(1);
    frames.end();
    expect((await listening).at(-1)).toMatchObject({ text: 'hello there' });
    expect((await server.seconds())[1]).toBeGreaterThan(3.2);
  });

  it('the recognizer sends requests during speech if configured to', async () => {
    await using server = await openTranscriptionServer();
    const frames = new Queue<AudioFrame>();
    const parts = openAt(server, { partials: true }).transcribe(frames, { signal })[Symbol.asyncIterator]();
    const first = parts.next();
    const voiced = [...vadFrames(speech, 16_000)].filter((frame) => frame.voiced);
    for (const frame of voiced.slice(0, 20)) frames.push(frame);
    await expect.poll(() => server.requests.length).toBe(1);
    await expect.poll(() => server.open).toBe(0);
    // The server has sent its answer; the recognizer may still be reading it when the next frame comes.
    let partial: unknown;
    void first.then(({ value }) => (partial = value));
    const next = () => (frames.push(voiced[20] as AudioFrame), partial);
    await expect.poll(next).toEqual({ type: 'transcript-partial', text: 'hello there' });
    await parts.return?.();
  });

  it('the recognizer sends model, language, prompt and API key', async () => {
    await using server = await openTranscriptionServer();
    await hear(openAt(server, { prompt: 'Baskerville', extra: { hotwords: 'Moriarty' } }), 'de-CH');
    const form = await server.requests[0]?.form();
    const fields = ['model', 'language', 'prompt', 'hotwords', 'response_format'].map((name) => form?.get(name));
    expect(fields).toEqual(['whisper', 'de', 'Baskerville', 'Moriarty', 'json']);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secretKey}`);
  });

  it('whisper.cpp is asked to detect the language', async () => {
    await using server = await openTranscriptionServer();
    await hear(openAt(server, { dialect: 'whisper-cpp' }));
    expect((await server.requests[0]?.form())?.get('language')).toBe('auto');
  });

  it('whisper.cpp, which fails for a language that Whisper does not know, is asked to detect it instead', async () => {
    await using server = await openTranscriptionServer();
    const engine = openAt(server, { dialect: 'whisper-cpp' });
    for (const language of ['fil', 'nb-NO', 'EN-gb', 'zh'])
      expect((await hear(engine, language)).at(-1)).toMatchObject({ text: 'hello there' });
    const forms = await Promise.all(server.requests.map((request) => request.form()));
    expect(forms.map((form) => form.get('language'))).toEqual(['auto', 'auto', 'en', 'zh']);
  });

  it.each([
    ['English', 'en'],
    ['chinese', 'zh'],
    ['yue', 'yue'],
  ])('%s is accepted as a language name', async (language, tag) => {
    expect(await finalOf({ text: 'So', language })).toMatchObject({ text: 'So', language: tag });
  });

  it('segments that Whisper marks as silence are dropped, and the rest has a confidence', async () => {
    const segments = [
      { text: ' Yes.', avg_logprob: -0.1, no_speech_prob: 0.02 },
      { text: ' Thank you for watching.', avg_logprob: -1.4, no_speech_prob: 0.9 },
    ];
    const final = await finalOf({ text: 'Yes. Thank you for watching.', segments });
    expect(final).toMatchObject({ text: 'Yes.', confidence: expect.closeTo(Math.exp(-0.1), 5) });
  });

  it('Chinese segments are joined without spaces', async () => {
    await using server = await openTranscriptionServer({ text: '你好。' });
    async function* twice(): AsyncGenerator<AudioFrame> {
      for (const _time of [1, 2]) {
        yield* vadFrames(speech, 16_000);
        yield* vadFrames(new Float32Array(0), 16_000);
      }
    }
    const parts = await Array.fromAsync(openAt(server).transcribe(twice(), { signal }));
    expect(parts.at(-1)).toMatchObject({ text: '你好。你好。' });
  });

  it('the recognizer refuses frames at another sample rate', async () => {
    await using server = await openTranscriptionServer();
    const wrong = { samples: new Float32Array(480), sampleRate: 24_000, atMs: 0 };
    const listening = Array.fromAsync(openAt(server).transcribe(streamOf([wrong]), { signal }));
    await expect(listening).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });

  it('doctor reports that whisper.cpp is still loading its model', async () => {
    await using server = await openTranscriptionServer();
    const engine = openAt(server, { dialect: 'whisper-cpp' });
    expect(await engine.check?.({ signal })).toContain('has loaded its model');
    server.breaks({ kind: 'status', status: 404 });
    await expect(engine.check?.({ signal })).rejects.toMatchObject({ detail: expect.stringContaining('loading') });
  });

  it('warming up sends a second of silence', async () => {
    await using server = await openTranscriptionServer({ text: '' });
    await openAt(server).warm?.({ signal });
    expect(await server.seconds()).toEqual([1]);
  });
});
