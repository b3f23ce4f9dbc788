import { durationMs, type AudioFrame } from '../audio.ts';
import { EngineError } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { ReplayableStream } from '../runtime/streams.ts';
import { resample } from '../dsp/resampler.ts';

/** Longest utterance that is kept for the next engine; a longer one fails with its current engine. */
const mostKeptMs = 600_000;

/** If one recognizer fails, the next decodes the utterance from its beginning. Throws the error of the last one. */
export function fallbackRecognizer(recognizers: readonly [SpeechRecognizer, ...SpeechRecognizer[]]): SpeechRecognizer {
  const [first, ...others] = recognizers;
  if (others.length === 0) return first;
  return {
    name: recognizers.map(({ name }) => name).join(', then '),
    sampleRate: first.sampleRate,
    languages: [...new Set(recognizers.flatMap(({ languages }) => languages))],
    async *transcribe(audio, options) {
      const source = new ReplayableUtterance(audio);
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

/** Utterance that can be read again from its start while it is not too long. */
class ReplayableUtterance {
  readonly #frames: ReplayableStream<AudioFrame>;
  #heardMs = 0;
  #heard = 0;

  constructor(frames: AsyncIterable<AudioFrame>) {
    this.#frames = new ReplayableStream(frames);
  }

  /** False once the start is no longer available. */
  get isWhole(): boolean {
    return this.#heardMs <= mostKeptMs;
  }

  async *fromStart(): AsyncGenerator<AudioFrame> {
    for (let index = 0; ; index += 1) {
      const frame = await this.#frames.at(index);
      if (frame === undefined) return;
      if (index >= this.#heard) this.#heardMs += durationMs(frame);
      this.#heard = Math.max(this.#heard, index + 1);
      yield frame;
      if (!this.isWhole) this.#frames.forget(index + 1);
    }
  }

  close(): void {
    this.#frames.close();
  }
}

/** Resamples frames for a recognizer with another rate; most take 16 kHz. */
async function* atRate(frames: AsyncIterable<AudioFrame>, sampleRate: number): AsyncGenerator<AudioFrame> {
  for await (const frame of frames) {
    if (frame.sampleRate === sampleRate) yield frame;
    else yield { ...frame, samples: resample(frame.samples, frame.sampleRate, sampleRate), sampleRate };
  }
}
