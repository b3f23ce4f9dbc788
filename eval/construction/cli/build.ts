import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { numberFlag, onlyPositional, parseFlags, requireFlag, textFlag } from '../../../server/terminal/flags.ts';
import type { CommandLine, FlagFacts, FlagValue } from '../../../server/terminal/flags.ts';
import { EvalError } from '../../eval-error.ts';
import { jobFlags, jobsWanted } from '../../jobs/job-flags.ts';
import { machineClock } from '../../limits.ts';
import { openPipeline, pipelineNames } from './pipelines.ts';
import { runBuild } from '../runner/build.ts';
import { estimateBuild, estimateText } from '../runner/estimate.ts';
import { openPrompts } from '../runner/prompts.ts';
import type { Pipeline } from '../runner/stage.ts';
import type { DataHost } from './host.ts';
import { embedderIn, modelsIn, pricesIn, thresholdsIn } from './models.ts';
import { reportText } from './report-text.ts';

const flags = {
  in: {
    type: 'string',
    value: 'PATH',
    help: 'books (.txt in any encoding, a folder of them, or JSONL {title, author, content}); for the other builds, a build or a folder of roles',
  },
  out: { type: 'string', value: 'DIR', help: 'folder of the build; the same command continues one that was stopped' },
  rights: {
    type: 'string',
    value: 'TEXT',
    help: 'rights to the input, such as "public domain": repeated in the output',
  },
  roles: {
    type: 'string',
    value: 'FILE',
    help: 'novel: JSON list of roles (name, aliases, traits, manner, mbti, world)',
  },
  requests: { type: 'string', value: 'N', help: 'speechrole-dialogues: requests per role and mode (default 8)' },
  choices: { type: 'string', value: 'N', help: 'speechrole-dialogues: replies per request (default 10)' },
  candidates: { type: 'string', value: 'N', help: 'context-instruct: questions to generate per role (default 400)' },
  questions: { type: 'string', value: 'FILE', help: 'context-instruct: questions for all roles, one per line' },
  'dedupe-by': {
    type: 'string',
    value: 'question|dialogue',
    help: 'speechrole-dialogues: what is compared (default question)',
  },
  split: {
    type: 'string',
    value: 'first|seeded',
    help: 'speechrole-dialogues: which two are held out (default first)',
  },
  'dev-roles': { type: 'string', value: 'KEYS', help: 'speechrole-dialogues: roles for development' },
  model: {
    type: 'string',
    value: '[STAGE=]URL#NAME,…',
    help: 'OpenAI-compatible model; STAGE=… sets one for a single stage',
  },
  embedder: { type: 'string', value: 'URL#NAME', help: 'speechrole-dialogues: OpenAI-compatible embeddings' },
  threshold: {
    type: 'string',
    value: 'CONTEXT,DUPLICATE',
    help: 'speechrole-dialogues: least similarity to the context, and similarity above which a duplicate is dropped; set them for another embedder than the paper’s',
  },
  'key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  prices: { type: 'string', value: 'IN,OUT', help: 'US dollars per million tokens, for --max-cost' },
  prompts: { type: 'string', value: 'DIR', help: 'folder of prompts that replace the built-in ones of the same name' },
  'chunk-tokens': { type: 'string', value: 'N', help: 'tokens of a chunk (coser 8192, novel 2000)' },
  concurrency: { type: 'string', value: 'N', help: 'concurrent calls (default 8)' },
  retries: { type: 'string', value: 'N', help: 'retries of failed calls (default 4)' },
  limit: { type: 'string', value: 'N', help: 'only the first N records of the input' },
  only: { type: 'string', value: 'STAGE', help: 'run only this stage, on the output of the stages before it' },
  'max-cost': { type: 'string', value: 'USD', help: 'stop when the calls have cost this much' },
  ...jobFlags,
  'dry-run': { type: 'boolean', help: 'make no calls; count records, calls, tokens and cost' },
} as const satisfies Record<string, FlagFacts>;

/** `dramatis data build NAME --in PATH --out DIR`. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about = `Builds: ${pipelineNames.join(', ')}. Every answer is stored in journal.jsonl, so that no call is paid for twice.`;
  const command = {
    name: 'data build',
    synopsis: 'NAME --in PATH --out DIR --rights TEXT --model URL#NAME',
    about,
    flags,
  };
  const parsed = parseFlags(command, args, host.print);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const pipeline = await pipelineIn(parsed);
  const prices = pricesIn(textFlag(values.prices));
  const limit = numberFlag(values.limit, 'limit', { min: 1, isWhole: true });
  if (values['dry-run'] === true) {
    host.print(estimateText(await estimateBuild(pipeline, { signal: host.signal, limit, prices })));
    return 0;
  }
  const concurrency = numberFlag(values.concurrency, 'concurrency', { min: 1, max: 256, isWhole: true }) ?? 8;
  const models = {
    model: requireFlag(values.model, 'model'),
    keyName: textFlag(values['key-env']),
    retries: numberFlag(values.retries, 'retries', { min: 0, isWhole: true }),
  };
  const limits = { concurrency, prices, stages: pipeline.stages.map((stage) => stage.name) };
  const options = {
    folder: requireFlag(values.out, 'out'),
    embedder: embedderIn(textFlag(values.embedder), textFlag(values['key-env']), host),
    clock: machineClock,
    signal: host.signal,
    concurrency: Math.max(concurrency, availableParallelism()),
    rights: requireFlag(values.rights, 'rights'),
    limit,
    maxDollars: numberFlag(values['max-cost'], 'max-cost', { min: 0 }),
    only: textFlag(values.only),
    onProgress: (stage: string, done: number): void => {
      if (done % 100 === 0 && done > 0) host.note(`${stage}: ${done} records`);
    },
  };
  const wanted = jobsWanted(values, host.environment);
  const build = { ...options, modelOf: modelsIn(models, limits, host) };
  // Workers' code is loaded only for builds that have some.
  const report =
    wanted === undefined
      ? await runBuild(pipeline, build)
      : await (await import('./far-build.ts')).runFarBuild(pipeline, build, { wanted, models, limits, host });
  host.print(reportText(report));
  const isFailed = report.stopped !== null || report.stages.some(({ failed }) => failed > 0);
  if (isFailed) host.print('Run the same command again to continue. Answers so far are kept.');
  return isFailed ? 1 : 0;
}

/** The build that a command line names, with its settings. */
async function pipelineIn({
  values,
  positionals,
}: Pick<CommandLine<keyof typeof flags>, 'values' | 'positionals'>): Promise<Pipeline> {
  const countFlag = (flag: 'requests' | 'choices' | 'candidates'): number | undefined =>
    numberFlag(values[flag], flag, { min: 1, isWhole: true });
  return openPipeline(onlyPositional(positionals, `one build: ${pipelineNames.join(', ')}`), {
    input: requireFlag(values.in, 'in'),
    rights: requireFlag(values.rights, 'rights'),
    promptOf: openPrompts(textFlag(values.prompts)),
    chunkTokens: numberFlag(values['chunk-tokens'], 'chunk-tokens', { min: 50, isWhole: true }),
    roles: textFlag(values.roles),
    requests: countFlag('requests'),
    choices: countFlag('choices'),
    candidates: countFlag('candidates'),
    questions: await linesOf(textFlag(values.questions)),
    dedupeBy: choiceFlag(values['dedupe-by'], 'dedupe-by', ['question', 'dialogue']),
    splitBy: choiceFlag(values.split, 'split', ['first', 'seeded']),
    devRoles: textFlag(values['dev-roles'])?.split(','),
    thresholds: thresholdsIn(textFlag(values.threshold), textFlag(values.embedder)),
  });
}

function choiceFlag<Choice extends string>(
  value: FlagValue,
  flag: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = textFlag(value);
  const found = choices.find((choice) => choice === text);
  if (text !== undefined && found === undefined)
    throw new EvalError('usage', `--${flag} must be ${choices.join(' or ')}.`);
  return found;
}

async function linesOf(file: string | undefined): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new EvalError('data', `--questions: ${file} cannot be read.`, cause);
  });
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
