import { EvalError } from '../eval-error.ts';
import type { EvalFlag } from '../host.ts';
import { numberOf, textOf } from './flags.ts';

/** Flags that select and configure the judge. */
export const judgeFlags = {
  judge: { type: 'string', value: 'URL', help: 'an OpenAI-compatible server with audio input, such as https://…/v1' },
  'judge-model': { type: 'string', value: 'MODEL', help: 'the model there' },
  'judge-dialect': { type: 'string', value: 'KIND', help: 'openai (default), data-url, vllm, dashscope' },
  'judge-key-env': { type: 'string', value: 'NAME', help: 'the environment variable that holds its key' },
  'judge-concurrency': { type: 'string', value: 'N', help: 'questions at a time (8)' },
  'judge-rpm': { type: 'string', value: 'N', help: 'questions a minute at most' },
  'judge-prices': { type: 'string', value: 'IN,AUDIO,OUT', help: 'US dollars a million tokens, for --max-cost' },
  protocol: { type: 'string', value: 'NAME', help: 'dramatis (default), v1 or v2' },
  prompts: { type: 'string', value: 'DIR', help: 'prompt templates in place of ours (eval/prompts)' },
  repeats: { type: 'string', value: 'K', help: 'dramatis: each order so many times (1)' },
  parser: { type: 'string', value: 'WHICH', help: 'tolerant (default) or strict, as the reference reads' },
  'parse-retries': { type: 'string', value: 'N', help: 'unreadable replies are asked for again (2)' },
  retries: { type: 'string', value: 'N', help: 'further tries of calls that failed (4)' },
  'max-cost': { type: 'string', value: 'USD', help: 'stop when the judge has cost so much' },
  'max-minutes': { type: 'string', value: 'N', help: 'stop after so long' },
} as const satisfies Record<string, EvalFlag>;

type Values = Readonly<Partial<Record<keyof typeof judgeFlags, string | boolean>>>;

/** Builds the unvalidated judge configuration from the flags; undefined without `--judge`. */
export function judgeOf(values: Values): Record<string, unknown> | undefined {
  const url = textOf(values.judge);
  if (url === undefined) return undefined;
  const model = textOf(values['judge-model']);
  if (model === undefined) throw new EvalError('usage', '--judge-model is needed: which model of the judge’s server.');
  const prices = textOf(values['judge-prices'])?.split(',').map(Number);
  const [input, audio, output] = prices ?? [];
  return given({
    url,
    model,
    dialect: textOf(values['judge-dialect']),
    keyEnv: textOf(values['judge-key-env']),
    concurrency: numberOf(values['judge-concurrency'], 'judge-concurrency'),
    rpm: numberOf(values['judge-rpm'], 'judge-rpm'),
    prices: prices === undefined ? undefined : { input, audio, output },
  });
}

/** Returns the values without those that are undefined. */
export function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
