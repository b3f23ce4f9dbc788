import { openWorkerPool } from '../runtime/worker-pool.ts';
import type { AudioFrame } from '../audio.ts';
import type { TurnDetector, TurnOptions } from '../turn-detector.ts';

/** A pause in a turn: the end of its audio, and what is known of its words. */
export interface Pause extends Pick<TurnOptions, 'text' | 'language' | 'before'> {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

/** Audio that is looked at: long enough to know the speaker's range, short enough to take a few milliseconds. */
const lookedAtMs = 3_000;

/**
 * Opens the built-in turn detector, with nothing to download: completeness of the words so far, and the sound before
 * the pause. Without `text`, or in a language other than English and Chinese, only the sound counts. It
 * computes in its own thread, some milliseconds a pause.
 */
export function openBuiltInDetector(): TurnDetector & {
  /** Starts the thread and loads the weights. */
  warm(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
} {
  const pool = openWorkerPool<Pause, number>({
    name: 'turn detector',
    url: new URL('./built-in-worker.ts', import.meta.url),
    size: 1,
  });
  return {
    name: 'words and prosody',
    async endOfTurnProbability(turn, { signal, ...known }) {
      signal.throwIfAborted();
      const pause = pauseOf(turn, known);
      const probability = await pool.call(pause, { signal, transfer: [pause.samples.buffer] });
      signal.throwIfAborted();
      return probability;
    },
    async warm(signal) {
      await pool.call({ samples: new Float32Array(0), sampleRate: 16_000, text: 'hello' }, { signal });
    },
    close: () => pool.close(),
  };
}

/** The end of a turn's audio, and what is known of its words, for the thread. */
export function pauseOf(
  { samples, sampleRate }: AudioFrame,
  { text, language, before }: Omit<TurnOptions, 'signal'>,
): Pause {
  return {
    samples: new Float32Array(samples.subarray(-Math.ceil((lookedAtMs / 1000) * sampleRate))),
    sampleRate,
    ...(text === undefined ? {} : { text }),
    ...(language === undefined ? {} : { language }),
    ...(before === undefined ? {} : { before }),
  };
}
