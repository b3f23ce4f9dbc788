import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/recognizers/funasr.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../../voices/recognizer.ts';
import { recognizerConformance } from '../../conformance/recognizer.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { behind } from '../../conformance/upstream.ts';
import {
  funasrScripts,
  openFunasrServer,
  type FunasrScript,
  type FunasrServer,
} from '../../fakes/servers/funasr-server.ts';
import { tone } from '../../fakes/vad.ts';
import { openEngine, promptly } from '../../rigs/voice-engine-rig.ts';
import { streamOf } from '../../fakes/spoken.ts';

const signal = new AbortController().signal;
const speech = tone(1_600, 16_000);

function openAt(server: FunasrServer, options: Record<string, unknown> = {}, care: CallPolicy = {}): SpeechRecognizer {
  return openEngine(adapter, { baseUrl: server.url.replace('http', 'ws'), ...options }, promptly(care));
}

for (const [name, script] of Object.entries(funasrScripts)) {
  recognizerConformance({
    title: `funasr (${name})`,
    speech,
    says: /^hello there$/,
    behindServer: true,
    open: async (care) => {
      const server = await openFunasrServer(script);
      return behind(openAt(server, {}, care), server, 'WS /');
    },
    openHearing: async (text) => {
      const server = await openFunasrServer({ late: [{ mode: '2pass-offline', text, is_final: true }] });
      return behind(openAt(server), server, 'WS /');
    },
  });
}

async function hear(script: FunasrScript, options: Record<string, unknown> = {}): Promise<TranscriptPart[]> {
  await using server = await openFunasrServer(script);
  return await Array.fromAsync(openAt(server, options).transcribe(streamOf(vadFrames(speech, 16_000)), { signal }));
}

const online = (text: string, isFinal: boolean) => ({ mode: '2pass-online', text, is_final: isFinal });
const offline = (text: string, isFinal: boolean) => ({ mode: '2pass-offline', text, is_final: isFinal });

describe('FunASR', () => {
  it('FunASR shows first-pass words, and the second pass replaces them sentence by sentence', async () => {
    const early = [
      online('今天', false),
      online('天汽', false),
      offline('今天天气。', false),
      online('好', false),
      online('吗', false),
    ];
    const parts = await hear({ early, late: [offline('，好吗？', true)] });
    const texts = parts.map(({ text }) => text);
    expect(texts).toEqual([
      '今天',
      '今天天汽',
      '今天天气。',
      '今天天气。好',
      '今天天气。好吗',
      '今天天气。好吗？',
      '今天天气。好吗？',
    ]);
  });

  it('FunASR on a Python server waits for the last sentence, because is_final there means speech', async () => {
    const late = [offline('One.', true), online('two', false), offline('Two.', false)];
    expect((await hear({ early: [online('one', true)], late })).at(-1)).toMatchObject({ text: 'One. Two.' });
  });

  it('FunASR’s C++ server closes the last sentence before the end, and its last message has no mode', async () => {
    const parts = await hear(funasrScripts.cppAfterPause, { settleMs: 5_000 });
    expect(parts.at(-1)).toEqual({ type: 'transcript-final', text: 'hello there' });
  });

  it('FunASR’s C++ server heard nothing, and its only message has no mode', async () => {
    const parts = await hear({ late: [{ text: '', timestamp: '', is_final: true }] }, { settleMs: 5_000 });
    expect(parts.at(-1)).toEqual({ type: 'transcript-final', text: '' });
  });

  it('FunASR’s C++ server reports an error as text without a mode, which is no transcript', async () => {
    const text = 'ERROR. Real-time transcription service ONLY SUPPORT PCM stream.';
    await expect(hear({ late: [{ text, is_final: true }] })).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });

  it('FunASR’s Python server is still at an earlier sentence at the end, and no later one is lost', async () => {
    const second = (text: string) => ({ ...offline(text, true), spk_name: 'unknown', spk_score: 0 });
    const late = [second('One, two.'), second('Five.')];
    const parts = await hear({ early: [online('one', false), online('two', false)], late, confirmsEnd: true });
    expect(parts.at(-1)).toEqual({ type: 'transcript-final', text: 'One, two. Five.' });
  });

  it('FunASR ends without is_final, which offline servers may never send', async () => {
    const late = [{ mode: 'offline', text: 'hello there' }];
    const parts = await hear({ late }, { mode: 'offline', settleMs: 10 });
    expect(parts.at(-1)).toEqual({ type: 'transcript-final', text: 'hello there' });
  });

  it('FunASR ends with is_end', async () => {
    const late = [
      { mode: 'online', text: 'hello' },
      { mode: 'online', text: '', is_end: true },
    ];
    expect((await hear({ late }, { mode: 'online', settleMs: 5_000 })).at(-1)).toMatchObject({ text: 'hello' });
  });

  it('FunASR keeps the first pass if the second understood nothing', async () => {
    const parts = await hear({ early: [online('hello', false)], late: [offline('', true)] });
    expect(parts.at(-1)).toMatchObject({ text: 'hello' });
  });

  it('FunASR sends its settings first, then audio in blocks of 60 ms', async () => {
    await using server = await openFunasrServer();
    const engine = openAt(server, { hotwords: { Baskerville: 20 } });
    await Array.fromAsync(engine.transcribe(streamOf(vadFrames(speech, 16_000)), { signal }));
    const beginning = { mode: '2pass', wav_format: 'pcm', audio_fs: 16_000, chunk_size: [5, 10, 5], is_speaking: true };
    expect(server.beginnings).toMatchObject([{ ...beginning, hotwords: '{"Baskerville":20}' }]);
    expect(new Set(server.blocks.slice(0, -1))).toEqual(new Set([1_920]));
  });
});
