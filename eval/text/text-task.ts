import type { FlagFacts } from '../../server/terminal/flags.ts';
import type { TextAgent } from '../agents/text-agent.ts';
import type { PeopleLabels, Printed } from '../benchmark.ts';
import type { Judge, JudgeQuestion } from '../judge/judge.ts';
import type { EvalContext, Score } from '../task.ts';
import type { TextConfig, TextFlagsOf } from './config.ts';
import type { Prompts } from './prompts.ts';
import type { Average, Metric } from './rows.ts';

/** Keys of parts that are repeats of the same items begin so. */
export const repeatKey = 'repeat-';

/** Facts of a sample, stored in the log: all that its scores need besides the output. */
export interface SampleFacts {
  readonly id: string;
  /** Cluster of the bootstrap: the role, or the book. */
  readonly group: string;
  readonly role: string;
  readonly language: 'en' | 'zh';
}

/** Test data that is ready to be read; the same each time. */
export interface LoadedData<Facts extends SampleFacts> {
  samples(): AsyncIterable<Facts> | Iterable<Facts>;
  readonly count: number;
  /** Languages of the roles. */
  readonly roles: ReadonlyMap<string, 'en' | 'zh'>;
  readonly hash: string;
  readonly problems: readonly string[];
}

/** Systems and services with which a sample is solved. */
export interface TextSystems {
  readonly agent: TextAgent;
  /** Other models by their part. */
  readonly models: ReadonlyMap<string, Judge>;
  readonly prompts: Prompts;
}

/** Answer of the judge to a question, or why there is none. */
export interface Verdict {
  readonly state: 'answered' | 'unreadable' | 'refused' | 'failed' | 'skipped';
  /** The last reply; empty if there is none. */
  readonly text: string;
}

/** A pair of outputs with a known better one: a judge that cannot distinguish them cannot be trusted. */
export interface Probe<Output> {
  readonly name: string;
  readonly help: string;
  readonly better: Output;
  readonly worse: Output;
  /** Metric that should distinguish them. */
  readonly metric: string;
}

/** Rows of a paper, and how they were made. */
export interface PublishedTable {
  readonly table: string;
  readonly source: string;
  readonly protocol: string;
  readonly judge: string;
  /** Key of the part of the data. */
  readonly part: string;
  readonly rows: readonly { readonly system: string; readonly values: Readonly<Record<string, number | null>> }[];
}

/** A benchmark whose judge reads texts. This folder has the shared part of all of them. */
export interface TextTask<Config extends TextConfig, Facts extends SampleFacts, Output> {
  readonly name: string;
  readonly title: string;
  readonly logName: string;
  readonly version: number;
  readonly flags: Readonly<Record<string, FlagFacts>>;
  readonly options: TextFlagsOf<Config>;
  readonly synopsis: string;
  /** Prompt files below the folder of prompts. */
  readonly promptFiles: readonly string[];
  load(config: Config): Promise<LoadedData<Facts>>;
  solve(facts: Facts, systems: TextSystems, options: { config: Config; context: EvalContext }): Promise<Output>;
  /** Stored answers of a file as a function; undefined if the task cannot replay any. */
  openOutputs?(file: string, config: Config): Promise<(facts: Facts) => Output | Promise<Output>>;
  /** Keys of the questions to the judge. */
  asks(facts: Facts, config: Config): readonly string[];
  /** Question to the judge; undefined if there is nothing to ask about this output. */
  question(ask: string, solved: Solved<Config, Facts, Output>, prompts: Prompts): JudgeQuestion | undefined;
  /** True if a reply can be read. */
  isReadable(ask: string, text: string, facts: Facts, config: Config): boolean;
  /** Every score of a sample; nulls with a reason if the system or the judge failed (`output` undefined). */
  score(
    facts: Facts,
    output: Output | undefined,
    how: { readonly config: Config; readonly verdict: (ask: string) => Verdict },
  ): readonly Score[];
  readonly metrics: readonly Metric[];
  readonly averages: readonly Average[];
  /** Parts of the data that get rows of their own, the whole first. */
  readonly parts: readonly { readonly key: string; readonly label: string; has(facts: Facts): boolean }[];
  readonly published: readonly PublishedTable[];
  /** Columns by which a leaderboard ranks systems, the first that any of them has. */
  readonly rankedBy?: readonly string[];
  /** Name of the way to judge, in tables. */
  protocol(config: Config): string;
  /** Settings on which two runs must agree, besides judge, prompts and parser. */
  comparable(config: Config): Readonly<Record<string, string>>;
  /** Texts of a sample and its output, for the report. */
  describe(facts: Facts, output: Output | undefined): readonly (readonly [label: string, text: string])[];
  /** Audio, fallback replies and waiting times in an output. */
  answers(output: Output): readonly Spoken[];
  probes(facts: Facts): readonly Probe<Output>[];
  /** The system's answers in the paper's own form, for `eval export --format outputs`. */
  exportRow(facts: Facts, output: Output): object;
  /** Agreement of a run's judge with labels of people. */
  withPeople?(judged: JudgedSamples<Config, Facts>, labels: PeopleLabels): Printed;
  /** Notes below the tables. */
  notes?(data: readonly Facts[], config: Config): readonly string[];
}

/** A run's samples and the judge's answers about them. */
export interface JudgedSamples<Config, Facts> {
  readonly config: Config;
  readonly facts: ReadonlyMap<string, Facts>;
  verdict(sample: string, ask: string): Verdict;
}

export interface Solved<Config, Facts, Output> {
  readonly facts: Facts;
  readonly output: Output;
  readonly config: Config;
}

/** Lines of a report about one answer. */
export interface Spoken {
  readonly audio: string | null;
  readonly firstAudioMs: number | null;
  readonly heard: string | null;
  readonly fallback: string | null;
}
