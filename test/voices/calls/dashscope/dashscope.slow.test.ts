import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../../../voices/audio.ts';
import type { CallCost } from '../../../../voices/calls/calls.ts';
import type { CallPolicy } from '../../../../voices/calls/call-policy.ts';
import { Queue } from '../../../../voices/runtime/streams.ts';
import { adapter as ear } from '../../../../voices/recognizers/dashscope.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../../voices/recognizer.ts';
import { adapter as mouth } from '../../../../voices/synthesizers/cloud/dashscope.ts';
import { recognizerConformance } from '../../../conformance/recognizer.ts';
import { vadFrames } from '../../../fakes/speech-frames.ts';
import { synthesizerConformance } from '../../../conformance/synthesizer.ts';
import { behind, reason } from '../../../conformance/upstream.ts';
import {
  openDashscopeServer,
  type DashscopeOptions,
  type DashscopeServer,
} from '../../../fakes/servers/cloud/dashscope-server.ts';
import { tone } from '../../../fakes/vad.ts';
import { openEngine, promptly, say } from '../../../rigs/voice-engine-rig.ts';
import { phrasesOf, streamOf } from '../../../fakes/spoken.ts';

const signal = new AbortController().signal;
const speech = tone(1_600, 16_000);
const path = '/api-ws/v1/inference';
const route = `WS ${path}`;
const voice = { kind: 'preset', id: 'longxiaochun_v2' } as const;

function openEar(server: DashscopeServer, options: Record<string, unknown> = {}, care?: CallPolicy): SpeechRecognizer {
  return openEngine(ear, { baseUrl: server.url.replace('http', 'ws') + path, ...options }, promptly(care));
}

function openMouth(server: DashscopeServer, care?: CallPolicy, log?: (cost: CallCost) => void) {
  return openEngine(mouth, { baseUrl: server.url + path }, promptly(care), log);
}

recognizerConformance({
  title: 'dashscope',
  speech,
  says: /^hello there$/,
  behindServer: true,
  open: async (care) => {
    const server = await openDashscopeServer();
    return behind(openEar(server, {}, care), server, route);
  },
  openHearing: async (text) => {
    const server = await openDashscopeServer({ hears: [text] });
    return behind(openEar(server), server, route);
  },
});

synthesizerConformance({
  title: 'dashscope',
  voice,
  behindServer: true,
  atRate: 'it is asked for 24 kHz',
  open: async (care) => {
    const server = await openDashscopeServer();
    return behind(openMouth(server, care), server, route);
  },
});

async function hear(options: DashscopeOptions, language?: string): Promise<TranscriptPart[]> {
  await using server = await openDashscopeServer(options);
  const given = { signal, ...(language === undefined ? {} : { language }) };
  return await Array.fromAsync(openEar(server).transcribe(streamOf(vadFrames(speech, 16_000)), given));
}

describe('Paraformer', () => {
  it('Paraformer shows each sentence as it grows and joins the sentences', async () => {
    const parts = await hear({ hears: ['你好。', '今天好吗？'] }, 'zh-CN');
    expect(parts.map(({ text }) => text)).toEqual([
      '你好',
      '你好。',
      '你好。今天好',
      '你好。今天好吗？',
      '你好。今天好吗？',
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'transcript-final', language: 'zh-CN' });
  });

  it('Paraformer takes a sentence’s end time for the end of the sentence if the server sends no flag', async () => {
    expect((await hear({ hears: ['One.', 'Two.'], isOld: true })).at(-1)).toMatchObject({ text: 'One. Two.' });
  });

  it('Paraformer sends audio as it comes in blocks of 100 ms, and finishes only then', async () => {
    await using server = await openDashscopeServer();
    const frames = new Queue<AudioFrame>();
    const listening = Array.fromAsync(openEar(server).transcribe(frames, { signal, language: 'en-GB' }));
    for (const frame of [...vadFrames(speech, 16_000)].slice(0, 20)) frames.push(frame);
    await expect.poll(() => server.told.filter((each) => each === 3_200).length).toBe(6);
    expect(server.told).not.toContain('finish-task');
    frames.end();
    await listening;
    expect(server.told.at(-1)).toBe('finish-task');
    expect(server.parameters).toMatchObject([{ format: 'pcm', sample_rate: 16_000, language_hints: ['en'] }]);
  });

  it.each([
    ['ModelNotFound', 'ENGINE_REFUSED', 'ModelNotFound'],
    ['InvalidApiKey', 'ENGINE_REFUSED', 'apiKeyEnv'],
    ['Throttling.RateQuota', 'ENGINE_UNAVAILABLE', 'Throttling.RateQuota'],
    ['InternalError', 'ENGINE_UNAVAILABLE', 'InternalError'],
    ['RequestTimeOut', 'ENGINE_TIMEOUT', 'RequestTimeOut'],
  ])('Paraformer reports a task that failed with %s as %s', async (failsWith, code, word) => {
    const detail = expect.stringContaining(word) as string;
    await expect(hear({ failsWith })).rejects.toMatchObject({ code, detail });
  });
});

describe('DashScope connection', () => {
  const texts = (server: DashscopeServer): number => server.told.filter((each) => each === 'run-task').length;

  it('one DashScope connection serves TTS tasks one after another, and two concurrent tasks need two', async () => {
    await using server = await openDashscopeServer();
    const engine = openMouth(server);
    await say(engine, voice, { text: 'One. Two.' });
    await say(engine, voice);
    expect([texts(server), server.connections]).toEqual([2, 1]);
    await Promise.all([say(engine, voice), say(engine, voice)]);
    await Promise.all([say(engine, voice), say(engine, voice)]);
    expect([texts(server), server.connections]).toEqual([6, 2]);
    await engine.close?.();
  });

  it('one DashScope connection serves ASR tasks one after another', async () => {
    await using server = await openDashscopeServer();
    const engine = openEar(server);
    for (const _time of [1, 2]) {
      const parts = await Array.fromAsync(engine.transcribe(Readable.from(vadFrames(speech, 16_000)), { signal }));
      expect(parts.at(-1)).toMatchObject({ text: 'hello there' });
    }
    expect([texts(server), server.connections]).toEqual([2, 1]);
  });

  it('a DashScope connection lost between tasks is replaced without a failure', async () => {
    await using server = await openDashscopeServer();
    const costs: CallCost[] = [];
    const engine = openMouth(server, undefined, (cost) => costs.push(cost));
    await say(engine, voice);
    server.breaks({ kind: 'late', ms: 1 });
    expect(await say(engine, voice)).not.toEqual([]);
    expect(server.connections).toBe(2);
    expect(costs.map(({ outcome, tries }) => [outcome, tries])).toEqual([
      ['ok', 1],
      ['ok', 1],
    ]);
  });

  it('a DashScope connection survives a failed task, and the task is not retried silently', async () => {
    await using server = await openDashscopeServer({ failsWith: 'Throttling.RateQuota', failsAfter: 1 });
    const engine = openMouth(server, { retries: 0 });
    await say(engine, voice);
    await expect(say(engine, voice)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect([texts(server), server.connections]).toEqual([2, 1]);
  });

  it('a DashScope connection whose task was aborted serves no other task', async () => {
    await using server = await openDashscopeServer();
    const engine = openMouth(server);
    server.breaks({ kind: 'silence', after: 0.5 }, { times: 1 });
    const controller = new AbortController();
    const speaking = Array.fromAsync(engine.speak(phrasesOf('Mind the step.'), { signal: controller.signal, voice }));
    await expect.poll(() => server.open).toBe(1);
    controller.abort(reason);
    await expect(speaking).rejects.toBe(reason);
    expect(await say(engine, voice)).not.toEqual([]);
    expect(server.connections).toBe(2);
  });

  it('closing the engine closes its DashScope connections', async () => {
    await using server = await openDashscopeServer();
    const engine = openMouth(server);
    await say(engine, voice);
    expect(server.ended.count).toBe(0);
    await engine.close?.();
    await expect.poll(() => server.ended.count).toBe(1);
  });
});

describe('DashScope account', () => {
  it('doctor checks a DashScope account by connecting', async () => {
    await using server = await openDashscopeServer();
    expect(await openMouth(server).check?.({ signal })).toContain('accepts the key');
    server.breaks({ kind: 'status', status: 401 });
    await expect(openMouth(server).check?.({ signal })).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });
});
