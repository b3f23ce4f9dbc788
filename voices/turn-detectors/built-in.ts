import { openWorkerPool } from '../runtime/worker-pool.ts';
import type { TurnDetector } from '../turn-detector.ts';
import { pauseOf, type Pause } from './end-of-turn.ts';

/**
 * Opens the built-in turn detector, with nothing to download: completeness of the words so far, and the sound before
 * the pause. Without `text`, or in a language other than English and Chinese, only the sound counts. It
 * computes in a thread of its own, some milliseconds a pause.
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
