import { durationMs } from '../audio.ts';
import { EngineError } from '../engine.ts';
import { ReplayableStream } from '../runtime/streams.ts';
import { resample } from '../dsp/resampler.ts';
import type { Phrase, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';

/** Engine and the voice it uses. */
export interface SynthesizerVoice {
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
}

/**
 * Makes one synthesizer from several: if one fails, the next continues with the words not yet spoken, in its own voice,
 * to the end of the reply; the voice of the call is ignored. Throws the error of the last one. All speak at the first
 * one's sample rate.
 */
export function fallbackSynthesizer(speakers: readonly [SynthesizerVoice, ...SynthesizerVoice[]]): SpeechSynthesizer {
  const [first] = speakers;
  const { sampleRate } = first.synthesizer;
  return {
    name: speakers.map(({ synthesizer }) => synthesizer.name).join(', then '),
    sampleRate,
    languages: [...new Set(speakers.flatMap(({ synthesizer }) => synthesizer.languages))],
    async *speak(phrases, options) {
      const script = new SpokenProgress(phrases);
      let atMs = 0;
      try {
        for (const [place, { synthesizer, voice }] of speakers.entries()) {
          try {
            for await (const chunk of synthesizer.speak(script.rest(), { ...options, voice })) {
              const placed = placeAt(chunk, atMs, sampleRate);
              script.said(chunk.text);
              atMs += durationMs(placed.frame);
              yield placed;
            }
            return;
          } catch (cause) {
            options.signal.throwIfAborted();
            if (!(cause instanceof EngineError) || place === speakers.length - 1) throw cause;
          }
        }
      } finally {
        script.close();
      }
    },
  };
}

/** Phrases with a record of the text already spoken. */
class SpokenProgress {
  readonly #phrases: ReplayableStream<Phrase>;
  /** Spoken part of each phrase, in UTF-16 units. */
  readonly #said: number[] = [];
  /** Index of the first phrase that is not completely spoken. */
  #next = 0;

  constructor(phrases: AsyncIterable<Phrase>) {
    this.#phrases = new ReplayableStream(phrases);
  }

  /** Yields the text not yet spoken, then the phrases still to come. */
  async *rest(): AsyncGenerator<Phrase> {
    for (let index = this.#next; ; index += 1) {
      const phrase = await this.#phrases.at(index);
      if (phrase === undefined) return;
      yield { ...phrase, text: phrase.text.slice(this.#said[index] ?? 0) };
    }
  }

  /** Records spoken text: the chunks of a phrase, joined, are its text; a phrase without anything to say gives none. */
  said(text: string): void {
    for (let left = text.length; left > 0;) {
      const phrase = this.#phrases.taken[this.#next];
      if (phrase === undefined) return;
      const before = this.#said[this.#next] ?? 0;
      const sayable = before > 0 || /[\p{L}\p{N}]/u.test(phrase.text);
      const now = sayable ? Math.min(left, phrase.text.length - before) : 0;
      left -= now;
      this.#said[this.#next] = before + now;
      if (!sayable || before + now === phrase.text.length) this.#next += 1;
    }
  }

  close(): void {
    this.#phrases.close();
  }
}

function placeAt(chunk: SpeechChunk, atMs: number, sampleRate: number): SpeechChunk {
  const samples = resample(chunk.frame.samples, chunk.frame.sampleRate, sampleRate);
  return { ...chunk, frame: { ...chunk.frame, samples, sampleRate, atMs } };
}
