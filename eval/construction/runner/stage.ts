import type { z } from 'zod';
import type { Prompt } from './prompts.ts';

/** A place in an input file, in UTF-16 units of its text without licence blocks. */
export interface Source {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** Origin of a record: the last stage, the passages, the models that answered, and the prompts (SHA-256). */
export interface Provenance {
  readonly stage: string;
  readonly sources: readonly Source[];
  readonly models: readonly string[];
  readonly promptHashes: readonly string[];
}

/** A record that flows between stages. The id is unique within a stage and does not depend on the order of work. */
export interface DataRecord {
  readonly id: string;
  readonly provenance: Provenance;
}

/** A record as a stage returns it: the runner adds models and prompts, and the sources of the input if there are none. */
export type Made<Value extends DataRecord> = Omit<Value, 'provenance'> & { readonly provenance?: Provenance };

/** Sampling parameters; absent means the server's default. */
export interface DataSampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
}

/** A question to the model of a stage. */
export interface Question {
  /** Distinguishes several questions about one record. */
  readonly part?: string;
  readonly prompt: Prompt;
  /** Values of the prompt's placeholders. */
  readonly values: Readonly<Record<string, string>>;
  /** The first attempt is made at temperature 0 and later ones at 1, unless this says otherwise. */
  readonly sampling?: DataSampling;
  /** 5 by default. */
  readonly attempts?: number;
}

/** A question that is answered in JSON. */
export interface JsonQuestion<Value> extends Question {
  readonly schema: z.ZodType<Value>;
}

/** A question that is answered in text. */
export interface TextQuestion extends Question {
  /** Returns the text to keep, or undefined if the reply is of no use. */
  readonly read: (reply: string) => string | undefined;
}

/** Work other than a question to a model, such as speech that is synthesized or measured. */
export interface OnceWork<Value> {
  /** Together they distinguish several works on one record. */
  readonly part?: string;
  readonly attempt?: string;
  /** Engines that do it. */
  readonly by: string;
  /** Everything else that the result depends on, as JSON. */
  readonly input: unknown;
  /** False if a file that belongs to a known result is gone: the work is done again. */
  readonly isKept?: (value: Value) => Promise<boolean>;
  /** The result is kept as JSON. */
  readonly make: () => Promise<Value>;
}

/** Services of the runner for one run of a stage on one record, or on one group of records. */
export interface StageContext {
  readonly signal: AbortSignal;
  /** Throws `Dropped` if no attempt gave a usable answer. */
  askJson<Value>(question: JsonQuestion<Value>): Promise<Value>;
  /** Throws `Dropped` if no attempt gave a usable answer. */
  askText(question: TextQuestion): Promise<string>;
  /** Unit vectors. Throws an `EvalError` if the build has no embedder. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Folder of the build, for files beside the records. */
  readonly folder: string;
  /** Does a work, or finds its result in the journal. */
  once<Value>(work: OnceWork<Value>): Promise<Value>;
  /** Counts a part of the record that is left out. */
  drop(reason: string, count?: number): void;
  /** Counts an observation for the report, such as a quote that was not found. */
  count(what: string, count?: number): void;
}

/** Leaves a record out; the reason is counted in the report. */
export class Dropped extends Error {
  override readonly name = 'Dropped';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** Expected work of a stage per record, for `--dry-run`. */
export interface Estimate {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Records that the stage makes of one. */
  readonly records: number;
}

/** A step of a build: maps records to records. */
export interface Stage<In extends DataRecord = DataRecord, Out extends DataRecord = DataRecord> {
  readonly name: string;
  /** Records of one key are given together, in order; without it, each record is given alone. */
  groupBy?(record: In): string;
  run(records: readonly In[], context: StageContext): Promise<readonly Made<Out>[]>;
  /** Absent if the stage uses no model. */
  readonly estimate?: Estimate;
}

/** Records of one key, in order: they are read from their file each time that they are walked through. */
export interface RecordGroup<Value extends DataRecord = DataRecord> extends AsyncIterable<Value> {
  readonly count: number;
}

/** A step of a build on groups that are too large for memory, such as all plots of a book. */
export interface GroupStage<In extends DataRecord = DataRecord, Out extends DataRecord = DataRecord> {
  readonly name: string;
  groupBy(record: In): string;
  /** Yields the records of a group in order. If it throws, none of them is kept. */
  runGroup(records: RecordGroup<In>, context: StageContext): AsyncIterable<Made<Out>>;
  /** Absent if the stage uses no model. */
  readonly estimate?: Estimate;
}

/** A line of an output file, a piece of it, or a whole file. */
export interface OutputRow {
  /** Relative to the folder of the build; `.json` is one document and not lines, `.txt` a whole text. */
  readonly file: string;
  readonly value: unknown;
  /** The value is one item of a `.json` list. */
  readonly isItem?: boolean;
  /** The value has this name in a `.json` object. */
  readonly member?: string;
  /** The value is text that continues the file; the last piece completes it. */
  readonly piece?: 'more' | 'last';
}

/** A whole build: where records come from, the stages, and what is written of the last one's records. */
export interface Pipeline {
  readonly name: string;
  /** The command that runs it; `data build NAME` if absent. */
  readonly command?: string;
  /** One line for the README of the output. */
  readonly about: string;
  /** Records of the input, in order. */
  records(signal: AbortSignal): AsyncIterable<DataRecord>;
  readonly stages: readonly (Stage | GroupStage)[];
  /** Rows of a record of the last stage. `takenOf` reads the records that this stage was given of a key. */
  rows(
    record: DataRecord,
    takenOf: (key: string) => AsyncIterable<DataRecord>,
  ): Iterable<OutputRow> | AsyncIterable<OutputRow>;
  /** Rows that depend only on the input. */
  inputRows?(signal: AbortSignal): AsyncIterable<OutputRow>;
}
