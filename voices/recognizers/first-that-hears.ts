import type { AudioFrame } from '../audio.ts';
import { EngineError } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { resample } from '../resampler.ts';

/** Utterances are kept for the next engine up to this length; what is longer fails with the engine that hears it. */
const mostKeptMs = 600_000;

/**
 * One recognizer out of several: where one fails, the next hears the utterance from its beginning, and goes on with it.
 * Partials may have been shown by then; they replace each other. Throws what the last one throws.
 */
export function firstThatHears(recognizers: readonly [SpeechRecognizer, ...SpeechRecognizer[]]): SpeechRecognizer {
  const [first, ...others] = recognizers;
  if (others.length === 0) return first;
  return {
    name: recognizers.map(({ name }) => name).join(', then '),
    sampleRate: first.sampleRate,
    languages: [...new Set(recognizers.flatMap(({ languages }) => languages))],
    async *transcribe(audio, options) {
      const source = new Replay(audio);
      try {
        for (const [place, recognizer] of recognizers.entries()) {
          try {
            yield* recognizer.transcribe(atRate(source.fromStart(), recognizer.sampleRate), options);
            return;
          } catch (cause) {
            options.signal.throwIfAborted();
            const mayGoOn = cause instanceof EngineError && place < recognizers.length - 1 && source.isWhole;
            if (!mayGoOn) throw cause;
          }
        }
      } finally {
        source.close();
      }
    },
  };
}

/** A stream of frames that can be read again from its start, by one reader after the other. */
class Replay {
  readonly #iterator: AsyncIterator<AudioFrame>;
  readonly #kept: AudioFrame[] = [];
  /** Asked for, but not by a reader that is still there. */
  #pending: Promise<IteratorResult<AudioFrame>> | undefined;
  #keptMs = 0;
  isWhole = true;

  constructor(frames: AsyncIterable<AudioFrame>) {
    this.#iterator = frames[Symbol.asyncIterator]();
  }

  async *fromStart(): AsyncGenerator<AudioFrame> {
    for (let index = 0; ; index += 1) {
      if (index >= this.#kept.length && !(await this.#pull())) return;
      const frame = this.#kept[index];
      if (frame !== undefined) yield frame;
      if (!this.isWhole) {
        // Nobody will read it again: only what comes next is needed.
        this.#kept.length = 0;
        index = -1;
      }
    }
  }

  close(): void {
    // Not awaited: a source that waits for its own input would not answer before that comes.
    void this.#iterator.return?.().catch(() => undefined);
  }

  async #pull(): Promise<boolean> {
    this.#pending ??= this.#iterator.next();
    const next = await this.#pending;
    if (next.done === true) return false;
    this.#pending = undefined;
    this.#kept.push(next.value);
    this.#keptMs += (next.value.samples.length / next.value.sampleRate) * 1000;
    if (this.#keptMs > mostKeptMs) this.isWhole = false;
    return true;
  }
}

/** Most recognizers hear at 16 kHz; one that does not gets what it wants. */
async function* atRate(frames: AsyncIterable<AudioFrame>, sampleRate: number): AsyncGenerator<AudioFrame> {
  for await (const frame of frames) {
    if (frame.sampleRate === sampleRate) yield frame;
    else yield { ...frame, samples: resample(frame.samples, frame.sampleRate, sampleRate), sampleRate };
  }
}
