import path from 'node:path';
import { z } from 'zod';
import { type CommandLine, type FlagFacts } from '../../server/terminal/flags.ts';
import { agentFlags, selectionFlags } from '../agents/agent-flags.ts';
import { EvalError } from '../eval-error.ts';
import { judgeConfigSchema, judgeFlags, judgeOf, optionsOf, type Options } from '../judge/judge-flags.ts';

const modelSchema = z.strictObject({ url: z.string(), model: z.string(), keyEnv: z.string().optional() });

/** Configuration that all benchmarks of text share, stored in the log. Keys are names of environment variables. */
export const textConfigSchema = z.strictObject({
  /** Absolute path of the test data. */
  data: z.string(),
  /** `chat:URL#MODEL`, `ours`, the URL of a running Dramatis, `openai-realtime:URL`, or `outputs:FILE`. */
  agent: z.string(),
  /** Display name in reports. */
  name: z.string().default(''),
  agentKeyEnv: z.string().optional(),
  agentVoice: z.string().optional(),
  agentConcurrency: z.number().int().min(1).default(4),
  agentRpm: z.number().positive().optional(),
  /** One character for all roles instead of one per role. */
  character: z.string().optional(),
  /** Folder of character packs: their own prompts count instead of the benchmark's. */
  characters: z.string().optional(),
  /** Keeps replies of fallbacks for the system's LLM. */
  allowFallback: z.boolean().default(false),
  /** Asks in speech, and takes the answers in speech. */
  speech: z.boolean().default(false),
  /** Voice of the user: a voice of Flite, or of eSpeak NG for Chinese. */
  userVoice: z.string().optional(),
  /** Recognizer whose transcript of a reply counts, instead of the text that the system gives: `moonshine`, or a server. */
  hear: z.union([z.literal('moonshine'), modelSchema]).optional(),
  speed: z.number().min(0.1).max(100).default(1),
  /** Settings of the server started for `ours`. */
  server: z.record(z.string(), z.union([z.string(), z.boolean()])).default({}),
  select: z
    .strictObject({
      roles: z.array(z.string()).optional(),
      language: z.enum(['en', 'zh']).optional(),
      limit: z.number().int().min(1).optional(),
    })
    .default({}),
  judge: judgeConfigSchema.optional(),
  /** Folder of a passed check of this judge with these prompts; without it, tables say that it was not checked. */
  judgeCheck: z.string().optional(),
  prompts: z.string().optional(),
  promptsName: z.string().min(1).max(60).optional(),
  parser: z.enum(['strict', 'tolerant']).default('tolerant'),
  parseRetries: z.number().int().min(0).max(10).default(2),
  retries: z.number().int().min(0).max(20).default(4),
  /** Other models that take part, such as the partner of a conversation, by their part. */
  models: z.record(z.string(), modelSchema).default({}),
  seed: z.number().int().default(1),
});

export type TextConfig = z.infer<typeof textConfigSchema>;

/** Flags that all benchmarks of text share. */
export const textFlags = {
  data: { type: 'string', value: 'PLACE', help: 'the test data' },
  agent: { type: 'string', value: 'WHO', help: 'chat:URL#MODEL, ours, URL of a Dramatis, or openai-realtime:URL' },
  outputs: { type: 'string', value: 'FILE', help: 'score existing answers (JSONL)' },
  ...agentFlags,
  characters: { type: 'string', value: 'DIR', help: 'character packs of the roles, with prompts of their own' },
  speech: { type: 'boolean', help: 'use the live speech path: spoken questions, spoken answers' },
  'user-voice': {
    type: 'string',
    value: 'ID',
    help: 'voice of the questions: from Flite, or from eSpeak NG for Chinese',
  },
  hear: {
    type: 'string',
    value: 'WHO',
    help: 'score transcripts by moonshine or URL#MODEL instead of the text that the system sends',
  },
  'hear-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  speed: { type: 'string', value: 'X', help: 'send speech at X times real time (default 1)' },
  ...selectionFlags,
  ...judgeFlags,
  'judge-check': {
    type: 'string',
    value: 'DIR',
    help: 'folder of a passed check of this judge; without it, tables say “judge not checked”',
  },
  seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
} as const satisfies Record<string, FlagFacts>;

/**
 * Builds a configuration from flags by its schema: keys like flags, and what `more` adds. Throws an `EvalError` if it is
 * invalid.
 */
export function textConfigOf<Config extends TextConfig>(
  { values, settings }: Pick<CommandLine<string>, 'values' | 'settings'>,
  { schema, flags, models = {} }: TextFlagsOf<Config>,
): Config {
  const options = optionsOf(values, flags);
  const { outputs, agent, roles, language, limit, data, hear, hearKeyEnv } = options;
  if (data === undefined) throw new EvalError('usage', '--data is required: the test data.');
  if ((outputs === undefined) === (agent === undefined))
    throw new EvalError('usage', 'Give either --agent or --outputs.');
  const plain = Object.keys(schema.shape).map((key) => [key, options[key]] as const);
  const parsed = schema.safeParse({
    ...Object.fromEntries(plain),
    data: path.resolve(String(data)),
    agent: outputs === undefined ? agent : `outputs:${path.resolve(String(outputs))}`,
    server: settings,
    select: { roles, language, limit },
    judge: judgeOf(options),
    hear: hear === undefined || hear === 'moonshine' ? hear : addressOf(String(hear), 'hear', hearKeyEnv),
    models: Object.fromEntries(Object.entries(models).flatMap(([part, flag]) => modelIn(options, part, flag))),
  });
  if (parsed.success) return parsed.data;
  throw new EvalError('usage', `Invalid configuration:\n${z.prettifyError(parsed.error)}`);
}

/** Makes the configuration of a benchmark from its flags. */
export interface TextFlagsOf<Config> {
  readonly schema: z.ZodObject & { readonly _zod: { readonly output: Config } };
  readonly flags: Readonly<Record<string, FlagFacts>>;
  /** Flags that name other models (`URL#MODEL`), by the model's part. */
  readonly models?: Readonly<Record<string, string>>;
}

function modelIn(options: Options, part: string, flag: string): [string, object][] {
  const key = flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const text = options[key];
  return text === undefined ? [] : [[part, addressOf(String(text), flag, options[`${key}KeyEnv`])]];
}

/** Splits `URL#MODEL`. */
export function addressOf(text: string, flag: string, keyEnv?: Options[string]): z.infer<typeof modelSchema> {
  const at = text.lastIndexOf('#');
  const [url, model] = [text.slice(0, at), text.slice(at + 1)];
  if (at <= 0 || model === '') throw new EvalError('usage', `--${flag} must be URL#MODEL, not "${text}".`);
  return { url, model, ...(keyEnv === undefined ? {} : { keyEnv: String(keyEnv) }) };
}
