import type { AudioFrame } from '../audio.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { openMicroBatch } from '../runtime/micro-batch.ts';
import { hashModel, type ModelFile } from '../onnx/onnx-model.ts';
import { openWorkerPool } from '../runtime/worker-pool.ts';
import { dnsmosSampleRate, dnsmosWindows } from './dnsmos-features.ts';

/** Predicted listener opinions, 1 (bad) to 5 (excellent). */
export interface SpeechQuality {
  /** P.835: speech signal, background, and overall. */
  readonly signal: number;
  readonly background: number;
  readonly overall: number;
  /** P.808: overall, from a separate model; absent if that is not loaded. */
  readonly p808?: number;
}

/** Rates the quality of recordings. */
export interface QualityMeter {
  readonly name: string;
  /** Accepts any rate and length; throws `ENGINE_REFUSED` for an empty clip. */
  rate(clip: AudioFrame, options: CallOptions): Promise<SpeechQuality>;
}

export interface DnsmosOptions extends CallOptions {
  /** `sig_bak_ovr.onnx` of P.835. */
  readonly modelPath: string;
  /** Lower-case hex. Default: that of the published file. */
  readonly sha256?: string;
  /** `model_v8.onnx` of P.808. */
  readonly p808Path?: string;
  readonly p808Sha256?: string;
  /** Threads. Default: 1. */
  readonly workers?: number;
  /** Maximum windows of 9 s per run. Default: 1, because larger batches are no faster on CPUs. */
  readonly mostWindows?: number;
}

/** Worker data of the DNSMOS thread. */
export interface DnsmosWorkerData {
  readonly p835: ModelFile;
  readonly p808: ModelFile | undefined;
}

/** A recording to be resampled to 16 kHz, or windows to be rated. */
export type DnsmosRequest =
  | { readonly type: 'resample'; readonly samples: Float32Array<ArrayBuffer>; readonly sampleRate: number }
  | { readonly type: 'judge'; readonly windows: readonly Float32Array<ArrayBuffer>[] };

/** The resampled recording, or each window's raw signal, background, overall and, if loaded, P.808 score. */
export interface DnsmosReply {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly scores: readonly (readonly number[])[];
}

/** Hashes of the files in microsoft/DNS-Challenge (code MIT, weights CC BY 4.0): DNSMOS/DNSMOS/. */
const known = {
  p835: '269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd',
  p808: '9246480c58567bc6affd4200938e77eef49468c8bc7ed3776d109c07456f6e91',
} as const;

const engine = 'DNSMOS';
const adviceOf = (file: string): string => `download ${file} (microsoft/DNS-Challenge, folder DNSMOS/DNSMOS)`;

/** Polynomials that map the network's output to the opinion scale; highest power first (`dnsmos_local.py`). */
const fits = {
  signal: [-0.08397278, 1.22083953, 0.0052439],
  background: [-0.13166888, 1.60915514, -0.39604546],
  overall: [-0.06766283, 1.11546468, 0.04602535],
} as const;

/**
 * Opens DNSMOS P.835, and P.808 if its file is given, in a worker thread: predicts listeners' ratings of a recording
 * per window of 9 s and averages them. Detects noise, clipping and dead air; does not measure how natural speech is.
 * Clean recordings get 2.4 to 3.2 overall, so the paper's bound of 3 is strict. A window takes about half a second of
 * CPU time. Throws `ENGINE_MISSING` if a file is missing or has an unknown hash.
 */
export async function openDnsmos(options: DnsmosOptions): Promise<QualityMeter & { close(): Promise<void> }> {
  const { modelPath, p808Path, signal, workers = 1, mostWindows = 1 } = options;
  const p835 = { engine, path: modelPath, advice: adviceOf('sig_bak_ovr.onnx') };
  const p808 = p808Path === undefined ? undefined : { engine, path: p808Path, advice: adviceOf('model_v8.onnx') };
  const hash = await hashModel(p835, options.sha256 ?? known.p835);
  if (p808 !== undefined) await hashModel(p808, options.p808Sha256 ?? known.p808);
  signal.throwIfAborted();
  const pool = openWorkerPool<DnsmosRequest, DnsmosReply>({
    name: engine,
    url: new URL('./dnsmos-worker.ts', import.meta.url),
    size: workers,
    workerData: { p835, p808 } satisfies DnsmosWorkerData,
    finishMs: 10_000,
  });
  const never = new AbortController().signal;
  const batches = openMicroBatch<Float32Array, readonly number[]>({
    kindOf: () => 'window',
    mostItems: mostWindows,
    lanes: workers,
    async run(items) {
      // Copied only now: the windows of a long recording overlap, and copies of all would fill the memory.
      const windows = items.map((window) => new Float32Array(window));
      const transfer = windows.map(({ buffer }) => buffer);
      return (await pool.call({ type: 'judge', windows }, { signal: never, transfer })).scores;
    },
  });
  const atModelRate = async (clip: AudioFrame, signal: AbortSignal): Promise<Float32Array> => {
    const { sampleRate } = clip;
    if (sampleRate === dnsmosSampleRate) return clip.samples;
    // Not on this thread: a minute of audio would stall live sessions.
    const samples = new Float32Array(clip.samples);
    const request = { type: 'resample', samples, sampleRate } as const;
    return (await pool.call(request, { signal, transfer: [samples.buffer] })).samples;
  };
  return {
    name: `dnsmos${p808 === undefined ? '' : '+p808'}@${hash.slice(0, 12)}`,
    async rate(clip, { signal }) {
      signal.throwIfAborted();
      const windows = dnsmosWindows(await atModelRate(clip, signal));
      if (windows.length === 0) throw new EngineError(engine, 'ENGINE_REFUSED', 'the clip contains no audio');
      const scores = await Promise.all(windows.map((window) => batches.add(window, { signal })));
      signal.throwIfAborted();
      return qualityOf(scores, modelPath);
    },
    close: () => pool.close(),
  };
}

function qualityOf(scores: DnsmosReply['scores'], path: string): SpeechQuality {
  if (!scores.every((score) => score.every((value) => Number.isFinite(value)))) {
    throw new EngineError(engine, 'ENGINE_BAD_REPLY', `${path} returned invalid scores`);
  }
  const mean = (value: (score: readonly number[]) => number): number =>
    scores.reduce((sum, score) => sum + value(score), 0) / scores.length;
  const fitted = (index: number, [square, slope, offset]: readonly [number, number, number]): number =>
    mean((score) => square * (score[index] as number) ** 2 + slope * (score[index] as number) + offset);
  return {
    signal: fitted(0, fits.signal),
    background: fitted(1, fits.background),
    overall: fitted(2, fits.overall),
    ...(scores[0]?.length === 4 ? { p808: mean((score) => score[3] as number) } : {}),
  };
}
