import type { CommandLine, FlagFacts } from '../server/terminal/flags.ts';
import type { EvalHost } from './host.ts';
import type { RunHeader, RunRecord } from './run-log.ts';
import type { Task } from './task.ts';

/** A run that is ready to start. */
export interface OpenedRun extends AsyncDisposable {
  readonly task: Task<unknown, unknown, unknown>;
  readonly header: RunHeader;
  /** Samples in progress at a time that keep both system and judge busy. */
  readonly concurrency: number;
  readonly problems: readonly string[];
}

export interface OpenOptions {
  /** Server settings that hold keys. */
  readonly secrets?: Readonly<Record<string, string | boolean>>;
  /** Known outputs; if they cover all samples, the system under test is not started. */
  readonly outputs?: ReadonlyMap<string, unknown> | undefined;
  /** True if workers run the system under test: it is not started here. */
  readonly isSolvedElsewhere?: boolean;
}

/** A run read from its log. */
export interface ReadRun {
  /** Absolute path. */
  readonly folder: string;
  readonly record: RunRecord;
}

/** Values of flags that say how to read a run. */
export type ReadingValues = Readonly<Record<string, string | boolean | undefined>>;

/** Output of a command: as JSON, or as text. */
export interface Printed {
  readonly json: unknown;
  readonly text: string;
}

/** Labels that people gave, as rows of a CSV file. */
export interface PeopleLabels {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly file: string;
}

/** Findings of `eval data check`. */
export interface CheckedData extends Printed {
  /** True if nothing is missing. */
  readonly isComplete: boolean;
}

/** The check of a judge, ready to start: pairs of outputs with a known better one. */
export interface OpenedCheck extends OpenedRun {
  results(record: RunRecord): Printed & { readonly results: unknown; readonly isPassed: boolean };
}

/** An export: the text of one file, or a folder with several; each with its name in the run's folder. */
export type Exported =
  | { readonly file: string; readonly text: string }
  | {
      readonly folder: string;
      /** Resolves to a line that says what was written. */
      writeTo(folder: string): Promise<string>;
    };

/** A benchmark as the commands of `dramatis eval` see it; each lives in its own folder. */
export interface Benchmark<Config, Run extends ReadRun> {
  /** Value of `--task`. */
  readonly name: string;
  readonly title: string;
  /** Name of its task in logs. */
  readonly logName: string;
  /** Flags of `eval run`, apart from `--task` and `--out`. */
  readonly flags: Readonly<Record<string, FlagFacts>>;
  readonly synopsis: string;
  /** Flags that say how to read a run. */
  readonly readingFlags: Readonly<Record<string, FlagFacts>>;
  /** Builds the configuration of a run from flags. Throws `EvalError`. */
  configure(line: Pick<CommandLine<string>, 'values' | 'settings'>): Promise<Config>;
  /** Configuration of a run, with new addresses of its system and its judge. */
  resumed(run: Run, addresses: { readonly agent?: string | undefined; readonly judge?: string | undefined }): Config;
  open(config: Config, folder: string, host: EvalHost, options?: OpenOptions): Promise<OpenedRun>;
  read(folder: string, values?: ReadingValues): Promise<Run>;
  writeResults(run: Run): Promise<void>;
  summary(run: Run): Printed;
  reportHtml(run: Run, options: { readonly worst: number }): Promise<string>;
  /** Values of `--format`. */
  readonly formats: readonly string[];
  /** `format` is one of `formats`. */
  exportAs(format: string, run: Run): Exported;
  /** Facts on which two runs must agree, so that their scores are comparable. */
  comparability(run: Run): Readonly<Record<string, string>>;
  /** True if the judge of the run's scores was not checked. */
  isUnchecked(run: Run): boolean;
  compare(a: Run, b: Run): Printed;
  /** Agreement of a run's judge with labels of people, rows of a CSV file; absent if the benchmark has none. */
  withPeople?(run: Run, labels: PeopleLabels): Printed;
  /** The papers' rows, and those of the runs. */
  leaderboard(runs: readonly Run[]): Printed;
  /** Flags of `eval judge-check`, apart from `--task` and `--out`. */
  readonly checkFlags: Readonly<Record<string, FlagFacts>>;
  openCheck(
    line: Pick<CommandLine<string>, 'values' | 'settings'>,
    folder: string,
    host: EvalHost,
  ): Promise<OpenedCheck>;
  checkData(folder: string, values: ReadingValues): Promise<CheckedData>;
}

/** Any benchmark: commands take its runs and configurations as they come, and give them back to it. */
export type AnyBenchmark = Benchmark<unknown, ReadRun>;

/** Heading of tables of scores by an unchecked judge. */
export const uncheckedNote = 'JUDGE NOT CHECKED: see `eval judge-check`';
