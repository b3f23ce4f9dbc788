import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { runConfigSchema, type RunConfig } from '../speechrole/run-config.ts';
import { execute } from './execute.ts';
import {
  numberFlag,
  parseFlags,
  requireFlag,
  requireNone,
  textFlag,
  type CommandLine,
  type FlagFacts,
} from '../../server/terminal/flags.ts';
import { given, judgeFlags, judgeOf } from './judge-flags.ts';

const flags = {
  data: { type: 'string', value: 'DIR', help: 'test data: the folder that contains test_data/' },
  out: { type: 'string', value: 'DIR', help: 'folder of the run: log, audio, results' },
  name: { type: 'string', help: 'display name of the system in reports' },
  agent: { type: 'string', value: 'WHO', help: 'ours (default), the URL of a Dramatis server, or openai-realtime:URL' },
  outputs: { type: 'string', value: 'DIR', help: 'score existing answers: model_output/<model>' },
  'agent-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'agent-voice': { type: 'string', value: 'ID', help: 'voice of the agent' },
  'agent-concurrency': { type: 'string', value: 'N', help: 'concurrent dialogues (default 4)' },
  'agent-rpm': { type: 'string', value: 'N', help: 'most dialogues per minute' },
  character: { type: 'string', value: 'ID', help: 'one character for all roles (default: one per role)' },
  persona: { type: 'string', value: 'WHICH', help: 'benchmark (its system prompt, verbatim) or dramatis' },
  'role-voices': {
    type: 'string',
    value: 'DIR',
    help: 'reference clips of the roles, for voice cloning and similarity',
  },
  'role-voices-consent': { type: 'string', value: 'WHO', help: 'who allowed the cloning, and the evidence for it' },
  'user-text': { type: 'boolean', help: 'send the user’s text instead of the recordings' },
  'teacher-forced': { type: 'boolean', help: 'use the reference’s answers as history' },
  speed: { type: 'string', value: 'X', help: 'stream recordings at X times real time (default 1)' },
  reference: { type: 'string', value: 'KEY', help: 'role_speech_path1, 2 or 3, if the data has three references' },
  roles: { type: 'string', value: 'A,B', help: 'only these roles' },
  language: { type: 'string', value: 'en|zh', help: 'only this language' },
  mode: { type: 'string', value: 'single|multi', help: 'only these dialogues' },
  limit: { type: 'string', value: 'N', help: 'only the first N' },
  ...judgeFlags,
  aggregation: { type: 'string', value: 'HOW', help: 'mean-of-ratios (default) or ratio-of-sums' },
  cues: {
    type: 'string',
    value: 'A,B',
    help: 'paralinguistic cues to measure: pitch, rate, wer, dnsmos, similarity, or all',
  },
  'cue-asr': {
    type: 'string',
    value: 'URL#MODEL',
    help: 'ASR server for wer (default: Moonshine, English only)',
  },
  'cue-asr-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'speaker-model': { type: 'string', value: 'FILE,…', help: 'for similarity: CAM++ or WavLM-large SV, as ONNX' },
  'dnsmos-model': { type: 'string', value: 'FILE', help: 'for dnsmos: Microsoft’s sig_bak_ovr.onnx' },
  seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
} as const satisfies Record<string, FlagFacts>;

type FlagName = keyof typeof flags;

/** `dramatis eval run`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const synopsis = '--data DIR --out DIR [--agent WHO | --outputs DIR] [--judge URL --judge-model MODEL] …';
  const parsed = parseFlags({ name: 'eval run', synopsis, flags, settings: 'accepted' }, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const out = requireFlag(parsed.values.out, 'out');
  return execute(
    {
      config: configOf(parsed),
      folder: path.resolve(out),
      resume: false,
      secrets: parsed.secrets,
      maxDollars: numberFlag(parsed.values['max-cost'], 'max-cost'),
      maxMinutes: numberFlag(parsed.values['max-minutes'], 'max-minutes'),
    },
    host,
  );
}

function configOf({ values, settings }: CommandLine<FlagName>): RunConfig {
  const text = (flag: FlagName): string | undefined => textFlag(values[flag]);
  const number = (flag: FlagName): number | undefined => numberFlag(values[flag], flag);
  const folder = (flag: FlagName): string | undefined => {
    const given = text(flag);
    return given === undefined ? undefined : path.resolve(given);
  };
  const list = (flag: FlagName): string[] | undefined =>
    text(flag)
      ?.split(',')
      .map((each) => each.trim())
      .filter(Boolean);
  const data = folder('data');
  if (data === undefined) throw new EvalError('usage', '--data is required: the folder that contains test_data/.');
  const outputs = folder('outputs');
  if (outputs !== undefined && text('agent') !== undefined)
    throw new EvalError('usage', 'Give --agent or --outputs, not both.');
  const wanted = {
    data,
    reference: text('reference'),
    agent: outputs === undefined ? text('agent') : `outputs:${outputs}`,
    name: text('name'),
    agentKeyEnv: text('agent-key-env'),
    agentVoice: text('agent-voice'),
    character: text('character'),
    persona: text('persona'),
    roleVoices: folder('role-voices'),
    roleVoicesConsent: text('role-voices-consent'),
    userText: values['user-text'],
    teacherForced: values['teacher-forced'],
    speed: number('speed'),
    agentConcurrency: number('agent-concurrency'),
    agentRpm: number('agent-rpm'),
    server: settings,
    select: given({
      roles: list('roles'),
      language: text('language'),
      mode: text('mode'),
      limit: number('limit'),
    }),
    judge: judgeOf(values),
    protocol: text('protocol'),
    prompts: folder('prompts'),
    repeats: number('repeats'),
    parser: text('parser'),
    parseRetries: number('parse-retries'),
    retries: number('retries'),
    aggregation: text('aggregation'),
    cues: list('cues'),
    cueAsr: cueAsrOf(text('cue-asr'), text('cue-asr-key-env')),
    speakerModels: list('speaker-model')?.map((file) => path.resolve(file)),
    dnsmosModel: folder('dnsmos-model'),
    seed: number('seed'),
  };
  return parseRunConfig(given(wanted));
}

function cueAsrOf(given: string | undefined, keyEnv: string | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const [url = '', model = ''] = given.split('#');
  if (url === '' || model === '') throw new EvalError('usage', '--cue-asr must be URL#MODEL.');
  return { url, model, ...(keyEnv === undefined ? {} : { keyEnv }) };
}

/** Validates a run configuration. Throws `EvalError` if it is invalid. */
export function parseRunConfig(wanted: Record<string, unknown>): RunConfig {
  const parsed = runConfigSchema.safeParse(wanted);
  if (parsed.success) return parsed.data;
  throw new EvalError('usage', `Invalid configuration:\n${z.prettifyError(parsed.error)}`);
}
