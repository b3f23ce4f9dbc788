import path from 'node:path';
import { z } from 'zod';
import { numberFlag, textFlag, type CommandLine, type FlagFacts } from '../../server/terminal/flags.ts';
import { EvalError } from '../eval-error.ts';
import { judgeDialects, type JudgeDialectName } from './message.ts';

/** Flags that select a judge and limit a run, for every benchmark. */
export const judgeFlags = {
  judge: { type: 'string', value: 'URL', help: 'OpenAI-compatible server of the judge, such as https://…/v1' },
  'judge-model': { type: 'string', value: 'MODEL', help: 'model on that server' },
  'judge-dialect': { type: 'string', value: 'KIND', help: 'openai (default), data-url, vllm, dashscope' },
  'judge-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'judge-concurrency': { type: 'string', value: 'N', help: 'concurrent questions (default 8)' },
  'judge-rpm': { type: 'string', value: 'N', help: 'questions per minute, at most' },
  'judge-prices': { type: 'string', value: 'IN,AUDIO,OUT', help: 'US dollars per million tokens, for --max-cost' },
  prompts: { type: 'string', value: 'DIR', help: 'prompt templates to use instead of eval/prompts' },
  'prompts-name': {
    type: 'string',
    value: 'NAME',
    help: 'name of these prompts in tables: “official text” for the paper’s',
  },
  parser: { type: 'string', value: 'WHICH', help: 'tolerant (default), or strict like the reference implementation' },
  'parse-retries': { type: 'string', value: 'N', help: 'retries of unreadable replies (default 2)' },
  retries: { type: 'string', value: 'N', help: 'retries of failed calls (default 4)' },
  'max-cost': { type: 'string', value: 'USD', help: 'stop when the judge has cost this much' },
  'max-minutes': { type: 'string', value: 'N', help: 'stop after this many minutes' },
} as const satisfies Record<string, FlagFacts>;

const dialectNames = Object.keys(judgeDialects) as [JudgeDialectName, ...JudgeDialectName[]];
const price = z.number().min(0).default(0);

/** Judge of a run, as its log keeps it. */
export const judgeConfigSchema = z.strictObject({
  url: z.string(),
  model: z.string(),
  dialect: z.enum(dialectNames).default('openai'),
  keyEnv: z.string().optional(),
  concurrency: z.number().int().min(1).default(8),
  rpm: z.number().positive().optional(),
  /** US dollars per million tokens. */
  prices: z.strictObject({ input: price, audio: price, output: price }).prefault({}),
});

/** Flags by the key of the configuration: `agentRpm` for `--agent-rpm`. */
export type Options = Readonly<Record<string, string | boolean | number | readonly string[] | undefined>>;

/** Parses flags by the placeholder in their help text: numbers, absolute paths, lists. */
export function optionsOf(values: CommandLine<string>['values'], flags: Readonly<Record<string, FlagFacts>>): Options {
  return Object.fromEntries(
    Object.entries(flags).map(([flag, { value: form = '' }]) => {
      const key = flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      const text = textFlag(values[flag]);
      if (/^[NXK]$/.test(form)) return [key, numberFlag(values[flag], flag)];
      if (/^(DIR|FILE)$/.test(form)) return [key, text === undefined ? undefined : path.resolve(text)];
      if (!/^(A,B|FILE,…)$/.test(form)) return [key, text ?? (values[flag] === true ? true : undefined)];
      const list = text?.split(',').map((each) => each.trim());
      const items = list?.filter(Boolean);
      return [key, form === 'A,B' ? items : items?.map((file) => path.resolve(file))];
    }),
  );
}

/** Reads a judge's configuration from the flags above; undefined without `--judge`. */
export function judgeOf(options: Options): object | undefined {
  const { judge: url, judgeModel: model, judgeDialect, judgeKeyEnv, judgeConcurrency, judgeRpm, judgePrices } = options;
  if (url === undefined) return undefined;
  if (model === undefined) throw new EvalError('usage', '--judge-model is required: the model on the judge’s server.');
  const [input, audio, output] = String(judgePrices ?? '')
    .split(',')
    .map(Number);
  return {
    url,
    model,
    dialect: judgeDialect,
    keyEnv: judgeKeyEnv,
    concurrency: judgeConcurrency,
    rpm: judgeRpm,
    prices: judgePrices === undefined ? undefined : { input, audio, output },
  };
}

/** Reads the cost and time limits from the flags. */
export function limitsOf(values: CommandLine<string>['values']): { maxDollars?: number; maxMinutes?: number } {
  const [maxDollars, maxMinutes] = [
    numberFlag(values['max-cost'], 'max-cost'),
    numberFlag(values['max-minutes'], 'max-minutes'),
  ];
  return { ...(maxDollars === undefined ? {} : { maxDollars }), ...(maxMinutes === undefined ? {} : { maxMinutes }) };
}
