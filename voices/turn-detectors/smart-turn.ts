import { EngineError } from '../engine.ts';
import { logMelSampleRate } from '../dsp/log-mel.ts';
import { resample } from '../dsp/resampler.ts';
import type { TurnDetector } from '../turn-detector.ts';
import { openWorkerPool } from '../runtime/worker-pool.ts';

export interface SmartTurnOptions {
  /** ONNX file of smart-turn v3, which the user provides. */
  readonly modelPath: string;
  /** SHA-256 in lower-case hex. Needed for any file but `smart-turn-v3.2-cpu.onnx`, whose hash is known here. */
  readonly sha256?: string;
}

/** Start-up data of the worker. */
export interface SmartTurnWorkerData {
  readonly modelPath: string;
  readonly sha256: string;
}

/** SHA-256 of `smart-turn-v3.2-cpu.onnx`, 8,679,182 bytes, as in pipecat's repository. */
export const knownSmartTurnHash = '2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f';

const name = 'smart-turn';
/** Audio that the model takes. */
const turnMs = 8_000;

/**
 * Opens smart-turn v3 (pipecat-ai, BSD-2-Clause: Whisper tiny's encoder and a classifier, 8 M parameters, 23 languages)
 * in a worker thread. It uses audio only: `text` and `language` are ignored. Only the last 8 seconds count. No package
 * ships its weights, and none were at hand when this was written: the features are checked against reference values,
 * names and shapes against pipecat's source, but the model itself has never run here. A file that is missing, or has
 * another hash than expected, gives `ENGINE_MISSING` with the first call or with `warm`.
 */
export function openSmartTurn(options: SmartTurnOptions): TurnDetector & {
  /** Loads the model. */
  warm(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
} {
  const { modelPath, sha256 = knownSmartTurnHash } = options;
  const pool = openWorkerPool<Float32Array<ArrayBuffer>, number>({
    name,
    url: new URL('./smart-turn-worker.ts', import.meta.url),
    size: 1,
    workerData: { modelPath, sha256: sha256.toLowerCase() } satisfies SmartTurnWorkerData,
    finishMs: 2_000,
  });
  return {
    name,
    async endOfTurnProbability({ samples, sampleRate }, { signal }) {
      signal.throwIfAborted();
      const kept = samples.slice(-Math.ceil((turnMs / 1000) * sampleRate));
      const turn = new Float32Array(resample(kept, sampleRate, logMelSampleRate));
      const probability = await pool.call(turn, { signal, transfer: [turn.buffer] });
      signal.throwIfAborted();
      if (probability >= 0 && probability <= 1) return probability;
      const detail = `${modelPath} returned ${probability}, which is not a probability`;
      throw new EngineError(name, 'ENGINE_BAD_REPLY', detail);
    },
    async warm(signal) {
      await pool.call(new Float32Array(0), { signal });
    },
    close: () => pool.close(),
  };
}
