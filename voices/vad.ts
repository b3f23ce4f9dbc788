/** Voice activity detection: speech probability of each window of audio. Weights are shared, state is per stream. */
export interface Vad {
  readonly name: string;
  readonly sampleRate: number;
  /** Every window given to `score` has exactly this many samples. */
  readonly windowSamples: number;
  open(): VadStream;
}

/** Recurrent state of one stream. Windows are scored in the order of the calls; several may be under way. */
export interface VadStream {
  /** Probability of speech in [0, 1]. Throws an `EngineError` once the stream is closed or its worker is gone. */
  score(window: Float32Array): Promise<number>;
  close(): void;
}
