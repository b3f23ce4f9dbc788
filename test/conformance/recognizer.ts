import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../voices/audio.ts';
import { Queue } from '../../voices/runtime/streams.ts';
import type { SpeechRecognizer, TranscriptPart } from '../../voices/recognizer.ts';
import { vadFrames } from '../fakes/speech-frames.ts';
import { itStopsWhenAborted, itSurvivesFaults, reason, type Opened, type Outcome, type Subject } from './upstream.ts';
import { streamOf } from '../fakes/spoken.ts';

export interface RecognizerSubject extends Subject<SpeechRecognizer> {
  /** A recording at the recognizer's rate, and its expected transcript. */
  readonly speech: Float32Array;
  readonly says: RegExp;
  /** Required behind a server: opens it before a model that writes this, the partials included. */
  readonly openHearing?: (text: string) => Promise<Opened<SpeechRecognizer>>;
  /** Timeout of a whole test, for slow engines. */
  readonly timeoutMs?: number;
  /** Reason why it notices an abort only with the next frame: for the fake alone. */
  readonly abortsLate?: string;
}

/**
 * Requirements on every `SpeechRecognizer`. One behind a server must also make no needless requests, and survive the
 * server's faults.
 */
export function recognizerConformance(subject: RecognizerSubject): void {
  const { title, speech, says } = subject;
  const options = { timeout: subject.timeoutMs ?? 30_000 };
  const heard = (recognizer: SpeechRecognizer, flagged = true): Iterable<AudioFrame> =>
    vadFrames(speech, recognizer.sampleRate, flagged);

  describe(`${title} as a recognizer`, options, () => {
    it('the recognizer states its name and sample rate', async () => {
      await using opened = await subject.open();
      const { name, sampleRate, languages } = opened.engine;
      expect(name).not.toBe('');
      expect(Number.isInteger(sampleRate) && sampleRate >= 8_000).toBe(true);
      for (const tag of languages) expect(tag).toMatch(/^[a-z]{2,3}$/);
    });

    it.each([
      ['with the word of a VAD', true],
      ['without', false],
    ])('the recognizer emits any number of partial transcripts, then exactly one final, %s', async (_name, flagged) => {
      await using opened = await subject.open();
      const parts = await transcribe(opened.engine, heard(opened.engine, flagged));
      expectOneFinal(parts);
      expect(parts.at(-1)?.text).toMatch(says);
    });

    it('the recognizer gives an empty transcript for silence without a request', async () => {
      await using opened = await subject.open();
      const { engine, upstream } = opened;
      const silence = vadFrames(new Float32Array(0), engine.sampleRate);
      expect(await transcribe(engine, silence)).toEqual([{ type: 'transcript-final', text: '' }]);
      expect(upstream?.server.requests.filter(({ path }) => upstream.route.endsWith(` ${path}`)) ?? []).toEqual([]);
    });

    it('the recognizer gives an empty transcript for no audio', async () => {
      await using opened = await subject.open();
      expect(await transcribe(opened.engine, [])).toEqual([{ type: 'transcript-final', text: '' }]);
    });

    it('the recognizer transcribes two speakers at a time', async () => {
      await using opened = await subject.open();
      const both = [1, 2].map(() => transcribe(opened.engine, heard(opened.engine)));
      for (const parts of await Promise.all(both)) expect(parts.at(-1)?.text).toMatch(says);
    });

    it('the recognizer throws the error of its audio source', async () => {
      await using opened = await subject.open();
      const { engine, upstream } = opened;
      const failure = new Error('the microphone is gone');
      async function* breaking(): AsyncGenerator<AudioFrame> {
        yield* [...heard(engine)].slice(0, 5);
        throw failure;
      }
      const { signal } = new AbortController();
      await expect(Array.fromAsync(engine.transcribe(breaking(), { signal }))).rejects.toBe(failure);
      if (upstream !== undefined) await expect.poll(() => upstream.server.open).toBe(0);
    });

    abortConformance(subject, heard);
  });

  if (subject.behindServer !== true) return;
  describe(`${title} with what models write`, options, () => {
    it.each([
      ['Qwen3-ASR', 'language English<asr_text>hello there'],
      ['SenseVoice', '<|en|><|NEUTRAL|><|Speech|><|withitn|>hello there'],
    ])('the recognizer takes no tag of %s for a word, in no partial either', async (_model, written) => {
      if (subject.openHearing === undefined) throw new Error('state in "openHearing" how its model writes a text');
      await using opened = await subject.openHearing(written);
      const parts = await transcribe(opened.engine, heard(opened.engine));
      expect(parts.at(-1)).toMatchObject({ type: 'transcript-final', text: 'hello there' });
      for (const { text } of parts) expect('hello there'.startsWith(text)).toBe(true);
    });

    it('the recognizer hears nothing where its model writes a tag without words', async () => {
      if (subject.openHearing === undefined) throw new Error('state in "openHearing" how its model writes a text');
      await using opened = await subject.openHearing('language None<asr_text>');
      const parts = await transcribe(opened.engine, heard(opened.engine));
      expect(parts).toEqual([{ type: 'transcript-final', text: '' }]);
    });
  });
  describe(`${title} over its protocol`, options, () => {
    itSurvivesFaults(subject, (engine) => outcomeOf(engine, heard(engine)), []);
  });
}

function abortConformance(
  subject: RecognizerSubject,
  heard: (recognizer: SpeechRecognizer) => Iterable<AudioFrame>,
): void {
  const call = (engine: SpeechRecognizer, signal: AbortSignal) =>
    engine.transcribe(streamOf(heard(engine)), { signal });
  itStopsWhenAborted(subject, 'recognizer', call, [0]);

  it.skipIf(subject.abortsLate !== undefined)(
    'the recognizer throws the reason at once if it is aborted while audio arrives',
    async () => {
      await using opened = await subject.open();
      const { engine, upstream } = opened;
      const controller = new AbortController();
      const frames = new Queue<AudioFrame>();
      for (const frame of [...heard(engine)].slice(0, 10)) frames.push(frame);
      const listening = Array.fromAsync(engine.transcribe(frames, { signal: controller.signal }));
      setImmediate(() => controller.abort(reason));
      await expect(listening).rejects.toBe(reason);
      if (upstream !== undefined) await expect.poll(() => upstream.server.open).toBe(0);
    },
  );
}

function expectOneFinal(parts: readonly TranscriptPart[]): void {
  const finals = parts.map(({ type }) => type === 'transcript-final');
  expect(finals).toEqual(parts.map((_, index) => index === parts.length - 1));
  expect(finals.length).toBeGreaterThan(0);
}

async function transcribe(recognizer: SpeechRecognizer, frames: Iterable<AudioFrame>): Promise<TranscriptPart[]> {
  const { signal } = new AbortController();
  return Array.fromAsync(recognizer.transcribe(streamOf(frames), { signal }));
}

async function outcomeOf(recognizer: SpeechRecognizer, frames: Iterable<AudioFrame>): Promise<Outcome> {
  try {
    const parts = await transcribe(recognizer, frames);
    expectOneFinal(parts);
    return { delivered: parts.at(-1)?.text ?? '' };
  } catch (error) {
    return { delivered: '', error };
  }
}
