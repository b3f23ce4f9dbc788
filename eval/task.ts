import type { CallOptions } from '../voices/engine.ts';
import type { AudioStore } from './run-folder.ts';

/** One item of a benchmark. `id` is unique in its task and the same in every run. */
export interface Sample<Input, Target> {
  readonly id: string;
  /** Cluster for the bootstrap: samples of one group resemble each other. In SpeechRole, the role. */
  readonly group: string;
  readonly input: Input;
  readonly target: Target;
}

/** One number about one sample. */
export interface Score {
  readonly name: string;
  /** Null if it could not be judged; never 0 instead. */
  readonly value: number | null;
  /** Reason for a null, or a remark for the reader. */
  readonly why?: string;
}

/** A sample and the output of the system under test. */
export interface Solved<Input, Target, Output> {
  readonly sample: Sample<Input, Target>;
  readonly output: Output;
}

/**
 * Measures samples. The costly part (`measure`) runs once and its JSON result is kept in the log; its interpretation
 * (`score`) is recomputed from the log at any time and makes no calls.
 */
export interface Scorer<Input, Target, Output> {
  readonly name: string;
  /** Returns the keys of the measurements that a sample needs, unique within the sample. */
  measurementKeys(sample: Sample<Input, Target>): readonly string[];
  measure(ask: string, solved: Solved<Input, Target, Output>, context: EvalContext): Promise<unknown>;
  /** `measured` lacks measurements that failed or have not been made yet. */
  score(solved: Solved<Input, Target, Output>, measured: ReadonlyMap<string, unknown>): readonly Score[];
}

/** A benchmark: samples, a way to solve each, and scorers for the outputs. */
export interface Task<Input, Target, Output> {
  readonly name: string;
  /** Incremented whenever scores before and after are not comparable. */
  readonly version: number;
  /** Yields the same samples in the same order every time; samples are small, audio is read on demand. */
  samples(): AsyncIterable<Sample<Input, Target>>;
  /** Returns the facts of a sample for the log: JSON, sufficient for scoring and reports. */
  describe(sample: Sample<Input, Target>): unknown;
  /** Runs the system under test on a sample. The result is stored in the log, so it must be JSON. */
  solve(sample: Sample<Input, Target>, context: EvalContext): Promise<Output>;
  readonly scorers: readonly Scorer<Input, Target, Output>[];
}

/** Services for tasks and scorers. */
export interface EvalContext extends CallOptions {
  /** Stores audio by content hash. */
  readonly audio: AudioStore;
  /** Throws if the budget is used up. Call it before each call that costs something. */
  readonly throwIfStopped: () => void;
  /** Records the cost of a call in US dollars. */
  readonly spend: (dollars: number) => void;
}
