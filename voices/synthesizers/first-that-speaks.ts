import { durationMs } from '../audio.ts';
import { EngineError } from '../engine.ts';
import { resample } from '../resampler.ts';
import type { Phrase, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';

/** An engine and the voice it is to use. */
export interface Speaker {
  readonly synthesizer: SpeechSynthesizer;
  readonly voice: Voice;
}

/**
 * One synthesizer out of several: where one fails, the next goes on with the words that were not said yet, in its own voice,
 * to the end of the reply; the voice of the call is passed over. Throws what the last one throws. All speak at the first one's sample rate.
 */
export function firstThatSpeaks(speakers: readonly [Speaker, ...Speaker[]]): SpeechSynthesizer {
  const [first] = speakers;
  const { sampleRate } = first.synthesizer;
  return {
    name: speakers.map(({ synthesizer }) => synthesizer.name).join(', then '),
    sampleRate,
    languages: [...new Set(speakers.flatMap(({ synthesizer }) => synthesizer.languages))],
    async *speak(phrases, options) {
      const script = new Script(phrases);
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

/** Phrases of which some may have been said. */
class Script {
  readonly #iterator: AsyncIterator<Phrase>;
  /** Taken from the source and not said to their end. */
  #open: Phrase[] = [];
  #pending: Promise<IteratorResult<Phrase>> | undefined;

  constructor(phrases: AsyncIterable<Phrase>) {
    this.#iterator = phrases[Symbol.asyncIterator]();
  }

  /** What is left to say, then what still comes. */
  async *rest(): AsyncGenerator<Phrase> {
    yield* this.#open.slice();
    for (;;) {
      this.#pending ??= this.#iterator.next();
      const next = await this.#pending;
      if (next.done === true) return;
      this.#pending = undefined;
      this.#open.push(next.value);
      yield next.value;
    }
  }

  /** Words were said: the chunks of a phrase, joined, are its text; a phrase with nothing to say gives none. */
  said(text: string): void {
    for (let left = text.length; left > 0;) {
      const [phrase, ...later] = this.#open;
      if (phrase === undefined) return;
      if (!/[\p{L}\p{N}]/u.test(phrase.text)) {
        this.#open = later;
        continue;
      }
      const rest = phrase.text.slice(left);
      this.#open = rest === '' ? later : [{ ...phrase, text: rest }, ...later];
      left -= Math.min(left, phrase.text.length);
    }
  }

  close(): void {
    // Not awaited: a source that waits for its own input would not answer before that comes.
    void this.#iterator.return?.().catch(() => undefined);
  }
}

function placeAt(chunk: SpeechChunk, atMs: number, sampleRate: number): SpeechChunk {
  const samples = resample(chunk.frame.samples, chunk.frame.sampleRate, sampleRate);
  return { ...chunk, frame: { ...chunk.frame, samples, sampleRate, atMs } };
}
