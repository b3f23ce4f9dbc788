import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../../voices/calls/call-policy.ts';
import type { EngineLifecycle } from '../../../../voices/engine.ts';
import type { SpeechSynthesizer } from '../../../../voices/synthesizer.ts';
import { adapter } from '../../../../voices/synthesizers/triton.ts';
import { synthesizerConformance } from '../../../conformance/synthesizer.ts';
import { secretKey } from '../../../conformance/upstream.ts';
import {
  inferRoute,
  openTritonServer,
  type TritonOptions,
  type TritonOutput,
} from '../../../fakes/servers/triton-server.ts';
import { tone } from '../../../fakes/vad.ts';
import { clipForTests, openEngine, opened, promptly, say } from '../../../rigs/voice-engine-rig.ts';

const { voice } = await clipForTests();
// The clip is sent with each call: short, because the faults have short timeouts.
const short = await clipForTests({ ms: 300 });
const signal = new AbortController().signal;

function* waveforms(samples: Float32Array, pieceSamples = 1_000): Generator<TritonOutput> {
  for (let at = 0; at < samples.length; at += pieceSamples) {
    const piece = samples.slice(at, at + pieceSamples);
    yield { name: 'waveform', datatype: 'FP32', shape: [1, piece.length], raw: Buffer.from(piece.buffer) };
  }
}

/** 60 ms of a tone for each word, at 24 kHz. */
const toneFor = (text: string): Float32Array => tone(60 * text.split(/\s+/).length + 60, 24_000);

function openSpeaking(options: TritonOptions = {}) {
  return openTritonServer((request) => waveforms(toneFor(request.text('target_text'))), options);
}

synthesizerConformance({
  title: 'triton (CosyVoice2, answer by answer)',
  voice: short.voice,
  behindServer: true,
  atRate: 'each family has one rate',
  open: async (care?: CallPolicy) =>
    opened(
      adapter,
      { defaultClip: short.defaultClip },
      { server: await openSpeaking(), route: inferRoute, care: promptly(care) },
    ),
});
synthesizerConformance({
  title: 'triton (F5-TTS, one answer, without the flag of the last)',
  voice: short.voice,
  behindServer: true,
  atRate: 'each family has one rate',
  open: async (care?: CallPolicy) => {
    const server = await openTritonServer((request) => waveforms(toneFor(request.text('target_text')), 1e6), {
      flags: false,
    });
    const given = { dialect: 'f5', defaultClip: short.defaultClip };
    return opened(adapter, given, { server, route: inferRoute, care: promptly(care) });
  },
});

function openAt(url: string, given: Record<string, unknown> = {}): SpeechSynthesizer & EngineLifecycle {
  return openEngine(adapter, { baseUrl: url, ...given });
}

describe('TTS model on Triton', () => {
  it('a Triton model gets the clip at its rate, the transcript, the text and the API key', async () => {
    await using server = await openSpeaking();
    await say(openAt(server.url), voice);
    await say(openAt(server.url, { dialect: 'f5', model: 'mine' }), voice);
    const [cosyvoice, f5] = server.seen;
    expect([cosyvoice?.model, f5?.model]).toEqual(['cosyvoice2', 'mine']);
    expect(cosyvoice?.text('target_text')).toBe('Mind the step.');
    expect(cosyvoice?.text('reference_text')).toBe('I keep the house.');
    expect(cosyvoice?.inputs).toMatchObject({
      reference_wav: { datatype: 'FP32', shape: [1, 64_000] },
      reference_wav_len: { datatype: 'INT32', shape: [1, 1] },
      reference_text: { datatype: 'BYTES', shape: [1, 1] },
    });
    expect(cosyvoice?.inputs['reference_wav_len']?.raw.readInt32LE(0)).toBe(64_000);
    expect(cosyvoice?.inputs['reference_wav']?.raw.readFloatLE(4_000)).toBeCloseTo(tone(4_000, 16_000)[1_000] ?? 0, 3);
    expect(f5?.inputs['reference_wav']?.shape).toEqual([1, 96_000]);
    expect(server.keys).toEqual([`Bearer ${secretKey}`, `Bearer ${secretKey}`]);
  });

  it.each([
    ['I keep the house', 'I keep the house. '],
    ['I keep the house.', 'I keep the house. '],
    ['Who keeps it? ', 'Who keeps it? '],
    ['我看家。', '我看家。'],
    ['我看家', '我看家。'],
  ])('F5-TTS on Triton, which joins transcript and text, does not run "%s" into the text', async (transcript, sent) => {
    await using server = await openSpeaking();
    await say(openAt(server.url, { dialect: 'f5' }), { ...voice, transcript });
    expect(server.seen[0]?.text('reference_text')).toBe(sent);
  });

  it('Triton calls share one connection', async () => {
    await using server = await openSpeaking();
    const engine = openAt(server.url);
    await Promise.all([say(engine, voice), say(engine, voice)]);
    await say(engine, voice);
    expect([server.seen.length, server.connections]).toEqual([3, 1]);
    // The model tells requests apart by these ids.
    const ids = new Set(server.seen.map(({ id }) => id));
    expect([ids.size, ids.has('')]).toEqual([3, false]);
  });

  it('the overlapping chunks of Spark-TTS on Triton are cross-faded', async () => {
    const level = new Float32Array(16_000).fill(0.5);
    await using server = await openTritonServer(() => waveforms(level, 4_000));
    const engine = openAt(server.url, { dialect: 'spark' });
    const chunks = await say(engine, voice);
    const samples = chunks.flatMap(({ frame }) => [...frame.samples]);
    // Four answers of 250 ms, each but the first repeating 100 ms: 700 ms at 24 kHz.
    expect(samples.length / 24_000).toBeCloseTo(0.7, 2);
    expect(Math.min(...samples.slice(500, 16_000))).toBeGreaterThan(0.48);
  });

  it.each<[string, TritonOptions, string]>([
    ['an error in a text', { goesWrong: { kind: 'error-message', after: 0 } }, 'ENGINE_UNAVAILABLE'],
    ['an error in a text halfway', { goesWrong: { kind: 'error-message', after: 2 } }, 'ENGINE_UNAVAILABLE'],
    ['a status halfway', { goesWrong: { kind: 'status', code: status.INTERNAL, after: 2 } }, 'ENGINE_UNAVAILABLE'],
    ['a cancel of its own', { goesWrong: { kind: 'status', code: status.CANCELLED, after: 2 } }, 'ENGINE_UNAVAILABLE'],
    ['half of its answers', { goesWrong: { kind: 'end', after: 2 } }, 'ENGINE_UNAVAILABLE'],
    ['a deadline', { goesWrong: { kind: 'status', code: status.DEADLINE_EXCEEDED, after: 0 } }, 'ENGINE_TIMEOUT'],
    ['an unknown method', { goesWrong: { kind: 'status', code: status.UNIMPLEMENTED, after: 0 } }, 'ENGINE_REFUSED'],
  ])(
    'a Triton stream that ends with %s is reported with a code and without its texts',
    async (_name, options, code) => {
      await using server = await openSpeaking(options);
      const fault = (await say(openAt(server.url), voice).catch((cause: unknown) => cause)) as Error;
      expect(fault).toMatchObject({ code });
      expect(fault.message).not.toContain('private');
    },
  );

  it.each([
    ['of another type', { name: 'waveform', datatype: 'INT16', shape: [1, 2], raw: Buffer.alloc(4) }],
    ['of another name', { name: 'audio', datatype: 'FP32', shape: [1, 1], raw: Buffer.alloc(4) }],
    ['of another length', { name: 'waveform', datatype: 'FP32', shape: [1, 9_000], raw: Buffer.alloc(401) }],
  ])('Triton audio that is %s is reported', async (_name, output) => {
    await using server = await openTritonServer(() => [output]);
    await expect(say(openAt(server.url), voice)).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });

  it('a Triton model that sends implausibly much audio is cut off', async () => {
    const huge = { name: 'waveform', datatype: 'FP32', shape: [1, 17e6], raw: Buffer.alloc(68e6) };
    await using server = await openTritonServer(() => [huge]);
    await expect(say(openAt(server.url), voice)).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });

  it('a Triton model is not asked with a clip that has no transcript', async () => {
    await using server = await openSpeaking();
    const speaking = say(openAt(server.url), { ...voice, transcript: ' ' });
    await expect(speaking).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    expect(server.requests).toEqual([]);
  });

  it('doctor checks whether the model is loaded on Triton', async () => {
    await using server = await openSpeaking();
    expect(await openAt(server.url).check?.({ signal })).toContain('has cosyvoice2');
    await using empty = await openSpeaking({ isReady: false });
    await expect(openAt(empty.url).check?.({ signal })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await expect(openAt('http://127.0.0.1:9').check?.({ signal })).rejects.toMatchObject({
      detail: expect.stringContaining('gRPC port') as string,
    });
  });
});
