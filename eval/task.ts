import type { CallOptions } from '../voices/engine.ts';
import type { AudioStore } from './audio-store.ts';

/** One thing to be measured. `id` is unique in its task and the same in every run. */
export interface Sample<Input, Target> {
  readonly id: string;
  /** Samples of one group resemble each other: intervals are drawn over groups. In SpeechRole: the role. */
  readonly group: string;
  readonly input: Input;
  readonly target: Target;
}

/** One number about one sample. */
export interface Score {
  readonly name: string;
  /** Null: could not be judged. Never 0 in its stead. */
  readonly value: number | null;
  /** Why it is null, or what a person should know. */
  readonly why?: string;
}

/** A sample and what the system under test made of it. */
export interface Solved<Input, Target, Output> {
  readonly sample: Sample<Input, Target>;
  readonly output: Output;
}

/**
 * Measures samples. What costs something (`measure`) is made once, kept in the log, and can be JSON; what it means (`score`)
 * is worked out from the log as often as one likes, and calls nobody.
 */
export interface Scorer<Input, Target, Output> {
  readonly name: string;
  /** The measurements that a sample needs, by keys that are unique within it. */
  asks(sample: Sample<Input, Target>): readonly string[];
  measure(ask: string, solved: Solved<Input, Target, Output>, context: EvalContext): Promise<unknown>;
  /** `measured` lacks what failed, or has not been measured yet. */
  score(solved: Solved<Input, Target, Output>, measured: ReadonlyMap<string, unknown>): readonly Score[];
}

/** A benchmark: samples, what to do with each, and how to measure what came out. */
export interface Task<Input, Target, Output> {
  readonly name: string;
  /** Counted up whenever scores of before and after cannot be compared. */
  readonly version: number;
  /** Always the same samples in the same order; they are light, their sound is read when needed. */
  samples(): AsyncIterable<Sample<Input, Target>>;
  /** What the log keeps of a sample; it must be JSON, and enough to score and report with. */
  describe(sample: Sample<Input, Target>): unknown;
  /** Has the system under test do its part. What it resolves to is kept in the log, so it must be JSON. */
  solve(sample: Sample<Input, Target>, context: EvalContext): Promise<Output>;
  readonly scorers: readonly Scorer<Input, Target, Output>[];
}

/** What tasks and scorers work with. */
export interface EvalContext extends CallOptions {
  /** Keeps sound by the hash of its content. */
  readonly audio: AudioStore;
  /** Throws where nothing further may be begun: the budget is used up. To be asked before each call that costs something. */
  readonly mayStart: () => void;
  /** Notes what a call has cost, in US dollars. */
  readonly spend: (dollars: number) => void;
}
