import { EvalError } from '../eval-error.ts';
import { numberFlag, textFlag, type FlagFacts } from '../../server/terminal/flags.ts';

/** Flags that select and configure the judge. */
export const judgeFlags = {
  judge: { type: 'string', value: 'URL', help: 'OpenAI-compatible server with audio input, such as https://…/v1' },
  'judge-model': { type: 'string', value: 'MODEL', help: 'model on that server' },
  'judge-dialect': { type: 'string', value: 'KIND', help: 'openai (default), data-url, vllm, dashscope' },
  'judge-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'judge-concurrency': { type: 'string', value: 'N', help: 'concurrent questions (default 8)' },
  'judge-rpm': { type: 'string', value: 'N', help: 'most questions per minute' },
  'judge-prices': { type: 'string', value: 'IN,AUDIO,OUT', help: 'US dollars per million tokens, for --max-cost' },
  protocol: { type: 'string', value: 'NAME', help: 'dramatis (default), v1 or v2' },
  prompts: { type: 'string', value: 'DIR', help: 'prompt templates to use instead of eval/prompts' },
  repeats: { type: 'string', value: 'K', help: 'protocol dramatis: how often each order is asked (default 1)' },
  parser: { type: 'string', value: 'WHICH', help: 'tolerant (default), or strict like the reference implementation' },
  'parse-retries': { type: 'string', value: 'N', help: 'retries of unreadable replies (default 2)' },
  retries: { type: 'string', value: 'N', help: 'retries of failed calls (default 4)' },
  'max-cost': { type: 'string', value: 'USD', help: 'stop when the judge has cost this much' },
  'max-minutes': { type: 'string', value: 'N', help: 'stop after this many minutes' },
} as const satisfies Record<string, FlagFacts>;

type Values = Readonly<Partial<Record<keyof typeof judgeFlags, string | boolean>>>;

/** Builds the unvalidated judge configuration from the flags; undefined without `--judge`. */
export function judgeOf(values: Values): Record<string, unknown> | undefined {
  const url = textFlag(values.judge);
  if (url === undefined) return undefined;
  const model = textFlag(values['judge-model']);
  if (model === undefined) throw new EvalError('usage', '--judge-model is required: the model on the judge’s server.');
  const prices = textFlag(values['judge-prices'])?.split(',').map(Number);
  const [input, audio, output] = prices ?? [];
  return given({
    url,
    model,
    dialect: textFlag(values['judge-dialect']),
    keyEnv: textFlag(values['judge-key-env']),
    concurrency: numberFlag(values['judge-concurrency'], 'judge-concurrency'),
    rpm: numberFlag(values['judge-rpm'], 'judge-rpm'),
    prices: prices === undefined ? undefined : { input, audio, output },
  });
}

/** Returns the values without those that are undefined. */
export function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
