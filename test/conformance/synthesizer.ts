import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { concatSamples, durationMs } from '../../voices/audio.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import type { Phrase, ReferenceVoice, SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import {
  itLetsGo,
  itStopsWhenAborted,
  itSurvivesFaults,
  reason,
  type Opened,
  type Outcome,
  type Subject,
} from './upstream.ts';
import { silence, tone } from '../fakes/vad.ts';
import { phrasesOf } from '../fakes/spoken.ts';

export interface SynthesizerSubject extends Subject<SpeechSynthesizer> {
  readonly voice: Voice;
  /** Two phrases with words in each, as made by the phrase splitter. */
  readonly phrases?: readonly [string, string];
  readonly timeoutMs?: number;
  /** The server cannot serve two requests at a time, so the engine must not send them. */
  readonly oneAtATime?: boolean;
  /** Required behind a server: opens it before a model of this rate, or says why its server has one rate only. */
  readonly atRate?: string | ((sampleRate: number) => Promise<Opened<SpeechSynthesizer>>);
}

const usualPhrases = ['Good evening, my friend. ', 'What brings you here so late at night?'] as const;

/** Requirements on every `SpeechSynthesizer`. One behind a server must also survive the server's faults. */
export function synthesizerConformance(subject: SynthesizerSubject): void {
  const { title, voice } = subject;
  const texts = subject.phrases ?? usualPhrases;
  const options = { timeout: subject.timeoutMs ?? 30_000 };
  const speak = (engine: SpeechSynthesizer, ...said: readonly string[]): Promise<SpeechChunk[]> =>
    Array.fromAsync(engine.speak(phrasesOf(...said), { signal: new AbortController().signal, voice }));

  describe(`${title} as a synthesizer`, options, () => {
    it('the synthesizer states its name and sample rate', async () => {
      await using opened = await subject.open();
      const { name, sampleRate, languages } = opened.engine;
      expect(name).not.toBe('');
      expect(Number.isInteger(sampleRate) && sampleRate >= 8_000).toBe(true);
      for (const tag of languages) expect(tag).toMatch(/^[a-z]{2,3}$/);
    });

    it('the synthesizer speaks every phrase: its chunks join to the text, in order, with audio', async () => {
      await using opened = await subject.open();
      const chunks = await speak(opened.engine, ...texts);
      expect(chunks.map(({ text }) => text).join('')).toBe(texts.join(''));
      expectSound(chunks, opened.engine.sampleRate);
    });

    it('the synthesizer times words within their chunk, in order', async () => {
      await using opened = await subject.open();
      for (const { frame, text, words = [] } of await speak(opened.engine, ...texts)) {
        let fromMs = 0;
        for (const word of words) {
          expect(text).toContain(word.text.trim());
          expect(word.startMs).toBeGreaterThanOrEqual(fromMs);
          expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
          fromMs = word.startMs;
        }
        expect(words.at(-1)?.endMs ?? 0).toBeLessThanOrEqual(durationMs(frame) + 0.001);
      }
    });

    it.each([
      ['nothing', []],
      ['white space', [' ', '\n']],
      ['marks', ['…', ' — ', '!?']],
    ])('the synthesizer gives no audio for %s, without a request', async (_name, said) => {
      await using opened = await subject.open();
      const { engine, upstream } = opened;
      expect((await speak(engine, ...said)).map(({ text }) => text)).toEqual([]);
      expect(upstream?.server.requests.filter(({ path }) => upstream.route.endsWith(` ${path}`)) ?? []).toEqual([]);
    });

    it('the synthesizer speaks before the second phrase is known', async () => {
      await using opened = await subject.open();
      const waiting = new Queue<Phrase>();
      waiting.push({ text: texts[0] });
      const { signal } = new AbortController();
      let said = '';
      for await (const { text } of opened.engine.speak(waiting, { signal, voice })) {
        said += text;
        if (said === texts[0]) waiting.push({ text: texts[1] });
        if (said === texts[0]) waiting.end();
      }
      expect(said).toBe(texts.join(''));
    });

    it('the synthesizer speaks two replies at a time without mixing them', async () => {
      await using opened = await subject.open();
      const [one, other] = await Promise.all([speak(opened.engine, texts[0]), speak(opened.engine, texts[1])]);
      expect(one.map(({ text }) => text).join('')).toBe(texts[0]);
      expect(other.map(({ text }) => text).join('')).toBe(texts[1]);
      if (subject.oneAtATime === true) expect(opened.upstream?.server.mostAtOnce).toBe(1);
    });

    it('the synthesizer speaks with another voice if it does not know the named one', async () => {
      await using opened = await subject.open();
      const { signal } = new AbortController();
      const unknown = { kind: 'preset', id: 'nobody-has-this-voice' } as const;
      const chunks = await Array.fromAsync(opened.engine.speak(phrasesOf(texts[0]), { signal, voice: unknown }));
      expect(chunks.map(({ text }) => text).join('')).toBe(texts[0]);
      expectSound(chunks, opened.engine.sampleRate);
    });

    it.each([undefined, 7])(
      'the synthesizer that claims to repeat a phrase gives the same samples after other speech, with seed %s',
      async (seed) => {
        await using opened = await subject.open();
        const { engine } = opened;
        const how = seed === undefined ? { voice } : { voice, seed };
        if (engine.isRepeatable?.({ text: texts[0] }, how) !== true) return;
        const { signal } = new AbortController();
        const say = async (text: string): Promise<Float32Array> => {
          const chunks = await Array.fromAsync(engine.speak(phrasesOf(text), { signal, ...how }));
          return concatSamples(chunks.map(({ frame }) => frame.samples));
        };
        const first = await say(texts[0]);
        await say(texts[1]);
        expect(await say(texts[0])).toEqual(first);
      },
    );

    it('the synthesizer throws the error of its text source', async () => {
      await using opened = await subject.open();
      const failure = new Error('the mind is gone');
      async function* breaking(): AsyncGenerator<Phrase> {
        yield { text: texts[0] };
        throw failure;
      }
      const { signal } = new AbortController();
      await expect(Array.fromAsync(opened.engine.speak(breaking(), { signal, voice }))).rejects.toBe(failure);
    });

    abortConformance(subject, texts);
  });

  if (subject.behindServer !== true) return;
  describe(`${title} with what its server needs`, options, () => {
    inputConformance(subject, texts[0]);
  });
  describe(`${title} over its protocol`, options, () => {
    itSurvivesFaults(subject, (engine) => outcomeOf(engine, voice, texts[0]), [texts[0].trim()]);
  });
}

/** Inputs that servers answer with speech that sounds wrong, and not with an error. */
function inputConformance(subject: SynthesizerSubject, text: string): void {
  const { voice, atRate } = subject;
  const fixed = typeof atRate === 'string' ? ` (${atRate})` : '';
  it.skipIf(fixed !== '')(`the synthesizer does not speak at half the speed with a 48 kHz model${fixed}`, async () => {
    if (typeof atRate !== 'function') throw new Error('state in "atRate" how this engine knows the rate of its server');
    await using slow = await atRate(24_000);
    await using fast = await atRate(48_000);
    const [usual, double] = await Promise.all([slow, fast].map(({ engine }) => outcomeOf(engine, voice, text)));
    expect(double?.error).toBeUndefined();
    expect(double).toEqual(usual);
  });

  it.runIf(voice.kind === 'reference')(
    'the synthesizer sends no word of the transcript that was cut off with the end of its clip',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-clip-'));
      try {
        await using opened = await subject.open();
        const long = {
          ...(voice as ReferenceVoice),
          wavPath: path.join(folder, 'long.wav'),
          transcript: wordsOfLongClip,
        };
        await writeWav(long.wavPath, longClip(), 16_000);
        const { error } = await outcomeOf(opened.engine, long, text);
        expect(error).toBeUndefined();
        const { requests = [], lastSocketMessages = [] } = opened.upstream?.server ?? {};
        const sent = Buffer.concat([
          ...requests.map(({ bytes }) => bytes),
          ...lastSocketMessages.map(({ data }) => Buffer.from(data)),
        ]);
        expect(sent.length).toBeGreaterThan(0);
        expect(sent.includes('Baskerville')).toBe(false);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
}

/** 40 s: eight sentences of four seconds each, with pauses; longer than any engine takes. */
function longClip(): Float32Array {
  const sentence = [tone(4_000, 16_000), silence(1_000, 16_000)];
  return concatSamples(Array.from({ length: 8 }, () => sentence).flat());
}

const wordsOfLongClip = [
  ...Array.from({ length: 7 }, (_, index) => `Sentence number ${index + 1} goes over the quiet moor at night.`),
  'This is the last one, Mister Henry Baskerville.',
].join(' ');

function abortConformance(subject: SynthesizerSubject, texts: readonly [string, string]): void {
  const { voice } = subject;
  const call = (engine: SpeechSynthesizer, signal: AbortSignal) => engine.speak(phrasesOf(...texts), { signal, voice });
  itStopsWhenAborted(subject, 'synthesizer', call);
  itLetsGo(subject, 'synthesizer', call);

  it('the synthesizer throws the reason if it is aborted while it works', async () => {
    await using opened = await subject.open();
    const controller = new AbortController();
    const speaking = Array.fromAsync(opened.engine.speak(phrasesOf(...texts), { signal: controller.signal, voice }));
    controller.abort(reason);
    await expect(speaking).rejects.toBe(reason);
  });

  it('the synthesizer throws the reason at once if it is aborted while it waits for a phrase', async () => {
    await using opened = await subject.open();
    const { engine, upstream } = opened;
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = new Queue<Phrase>();
    waiting.push({ text: texts[0] });
    const speaking = (async () => {
      for await (const _chunk of engine.speak(waiting, { signal, voice })) setImmediate(() => controller.abort(reason));
    })();
    await expect(speaking).rejects.toBe(reason);
    if (upstream !== undefined) await expect.poll(() => upstream.server.open).toBe(0);
  });
}

function expectSound(chunks: readonly SpeechChunk[], sampleRate: number): void {
  expect(chunks.length).toBeGreaterThan(0);
  let atMs = 0;
  let peak = 0;
  for (const { frame } of chunks) {
    expect(frame.sampleRate).toBe(sampleRate);
    expect(frame.samples.length).toBeGreaterThan(0);
    expect(frame.atMs).toBeCloseTo(atMs, 3);
    atMs += durationMs(frame);
    peak = frame.samples.reduce((most, value) => Math.max(most, Math.abs(value)), peak);
  }
  expect(peak).toBeGreaterThan(0.01);
  expect(peak).toBeLessThanOrEqual(1);
}

async function outcomeOf(engine: SpeechSynthesizer, voice: Voice, text: string): Promise<Outcome> {
  const { signal } = new AbortController();
  let lengthMs = 0;
  let said = '';
  const delivered = (): string => `${said} ${Math.round(lengthMs)} ms`;
  try {
    for await (const chunk of engine.speak(phrasesOf(text), { signal, voice })) {
      lengthMs += durationMs(chunk.frame);
      said += chunk.text;
    }
    return { delivered: delivered() };
  } catch (error) {
    return { delivered: delivered(), error };
  }
}
