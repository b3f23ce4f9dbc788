import { createHash } from 'node:crypto';
import path from 'node:path';
import type { OpenedRun, OpenOptions, ReadingValues, ReadRun } from '../benchmark.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { runPaths } from '../run-folder.ts';
import { buildHeader, readRunLog, type RunHeader } from '../run-log.ts';
import type { Sample, Task } from '../task.ts';
import type { TextConfig } from './config.ts';
import { textScorer, verdictsOf } from './judging.ts';
import { openPrompts, type Prompts } from './prompts.ts';
import type { ScoredSample } from './rows.ts';
import { concurrencyOf, openModels, openTextAgent, openTextJudge } from './systems.ts';
import type { LoadedData, SampleFacts, TextSystems, TextTask } from './text-task.ts';

/** A run of a benchmark of text, read from its log. */
export interface TextRun<Config extends TextConfig, Facts extends SampleFacts, Output> extends ReadRun {
  readonly config: Config;
  /** Facts by sample id, in the order of the ids. */
  readonly facts: ReadonlyMap<string, Facts>;
  /** In the same order. */
  readonly scored: readonly ScoredSample[];
  outputOf(sample: string): Output | undefined;
}

/** Reads the data, opens the judge, and starts or connects to the system under test. Throws `EvalError`. */
export async function openTextRun<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  config: Config,
  {
    folder,
    host,
    secrets = {},
    outputs,
    isSolvedElsewhere = false,
  }: OpenOptions & { readonly folder: string; readonly host: EvalHost },
): Promise<OpenedRun> {
  const data = await task.load(config);
  if (data.count === 0) throw new EvalError('usage', 'No item matches --roles, --language and --limit. Select more.');
  const prompts = openPrompts(task.promptFiles, config.prompts);
  const judge = openTextJudge(config, host);
  const isAnswered = isSolvedElsewhere || (outputs !== undefined && outputs.size >= data.count);
  const solver = isAnswered
    ? { solve: () => Promise.reject(new Error('every item has been answered')), close: () => Promise.resolve() }
    : await openSolver(task, { config, data, prompts, folder, host, secrets });
  const first = await firstOf(data);
  return {
    task: runnable(task, data, {
      solve: solver.solve,
      scorers: judge === undefined ? [] : [textScorer(task, { judge, prompts, config })],
    }),
    header: await headerOfText(task, config, data, prompts),
    concurrency: concurrencyOf(config, first === undefined ? 1 : task.asks(first, config).length),
    problems: data.problems,
    [Symbol.asyncDispose]: () => solver.close(),
  };
}

async function firstOf<Facts extends SampleFacts>(data: LoadedData<Facts>): Promise<Facts | undefined> {
  for await (const facts of data.samples()) return facts;
  return undefined;
}

type RunnableTask<Facts, Output> = Task<Facts, null, Output>;

/** A benchmark of text as the runner's task. */
export function runnable<Config extends TextConfig, Facts extends SampleFacts, Output>(
  { logName, version }: TextTask<Config, Facts, Output>,
  data: Pick<LoadedData<Facts>, 'samples'>,
  parts: Pick<RunnableTask<Facts, Output>, 'solve' | 'scorers'>,
): RunnableTask<Facts, Output> {
  return {
    name: logName,
    version,
    async *samples() {
      for await (const facts of data.samples()) yield { id: facts.id, group: facts.group, input: facts, target: null };
    },
    describe: ({ input }) => input,
    ...parts,
  };
}

interface Solver<Facts, Output> {
  readonly solve: RunnableTask<Facts, Output>['solve'];
  close(): Promise<void>;
}

async function openSolver<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  wanted: {
    readonly config: Config;
    readonly data: LoadedData<Facts>;
    readonly prompts: Prompts;
    readonly folder: string;
    readonly host: EvalHost;
    readonly secrets: Readonly<Record<string, string | boolean>>;
  },
): Promise<Solver<Facts, Output>> {
  const { config, data, prompts, folder, host, secrets } = wanted;
  if (config.agent.startsWith('outputs:')) {
    const file = config.agent.slice('outputs:'.length);
    const replay = await task.openOutputs?.(file, config);
    if (replay === undefined) throw new EvalError('usage', `${task.title} takes no --outputs.`);
    return { solve: async ({ input }) => replay(input), close: () => Promise.resolve() };
  }
  const opened = await openTextAgent({ config, roles: data.roles, folder, secrets }, host);
  const { agent } = opened;
  const systems: TextSystems = { agent, models: openModels(config, host), prompts };
  const solve = (sample: Sample<Facts, null>, context: Parameters<Solver<Facts, Output>['solve']>[1]) =>
    agent.attempt((within) => task.solve(sample.input, systems, { config, context: within }), context);
  return { solve, close: () => opened.close() };
}

/** Builds the first line of the log of a run, or of a judge's check. */
export function headerOfText<Config extends TextConfig, Facts extends SampleFacts, Output>(
  { logName, version }: TextTask<Config, Facts, Output>,
  config: Config,
  data: Pick<LoadedData<Facts>, 'hash' | 'count'>,
  prompts: Prompts,
): Promise<RunHeader> {
  const others = Object.entries(config.models).map(([part, { model }]) => [part, model] as const);
  return buildHeader({
    task: { name: logName, version },
    config,
    models: {
      agent: config.agent,
      ...Object.fromEntries(others),
      ...(config.judge === undefined ? {} : { judge: config.judge.model }),
    },
    prompts: prompts.hashes,
    seeds: { bootstrap: config.seed },
    data: { hash: data.hash, samples: data.count },
  });
}

/** Reads the run in a folder; `parser` may override the one it was made with. */
export async function readTextRun<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  folder: string,
  { parser }: ReadingValues = {},
): Promise<TextRun<Config, Facts, Output>> {
  if (parser !== undefined && parser !== 'strict' && parser !== 'tolerant')
    throw new EvalError('usage', '--parser must be strict or tolerant.');
  const record = await readRunLog(runPaths(folder).logFile);
  const parsed = task.options.schema.safeParse(record.header.config);
  if (record.header.task.name !== task.logName || !parsed.success)
    throw new EvalError('log', `${folder} is not a run of ${task.title}. Give a folder that \`eval run\` has made.`);
  const config = { ...(parsed.data as Config), ...(parser === undefined ? {} : { parser }) };
  const facts = new Map(
    [...record.samples].map(([id, about]) => [id, about as Facts] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const outputOf = (sample: string): Output | undefined => record.outputs.get(sample) as Output | undefined;
  const scored = [...facts].map(([id, about]): ScoredSample => {
    const verdict = verdictsOf(task, { facts: about, config, measured: record.measured.get(id) });
    return { id, group: about.group, scores: task.score(about, outputOf(id), { config, verdict }) };
  });
  return { folder: path.resolve(folder), record, config, facts, scored, outputOf };
}

/** Returns a run's display name: the configured name, otherwise the agent, or the folder's name for `ours`. */
export function textRunName({ config, folder }: Pick<TextRun<TextConfig, SampleFacts, unknown>, 'config' | 'folder'>) {
  return config.name !== '' ? config.name : config.agent === 'ours' ? path.basename(folder) : config.agent;
}

/** Short hash of a run's prompts. */
export function promptsHash(hashes: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(hashes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 8);
}
