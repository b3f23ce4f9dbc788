import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import type { EvalFlag, EvalHost } from '../host.ts';
import { runConfigSchema, type RunConfig } from '../speechrole/run-config.ts';
import { execute } from './execute.ts';
import { numberOf, parseFlags, textOf, type EvalArguments } from './flags.ts';
import { given, judgeFlags, judgeOf } from './judge-flags.ts';

const flags = {
  data: { type: 'string', value: 'DIR', help: 'the test data: the folder that contains test_data/' },
  out: { type: 'string', value: 'DIR', help: 'where the run is kept: log, audio, results' },
  name: { type: 'string', help: 'what reports call the system' },
  agent: { type: 'string', value: 'WHO', help: 'ours (default), the URL of a Dramatis, or openai-realtime:URL' },
  outputs: { type: 'string', value: 'DIR', help: 'score answers that exist: model_output/<model>' },
  'agent-key-env': { type: 'string', value: 'NAME', help: 'the environment variable that holds its key' },
  'agent-voice': { type: 'string', value: 'ID', help: 'a voice of its own' },
  'agent-concurrency': { type: 'string', value: 'N', help: 'dialogues at a time (4)' },
  'agent-rpm': { type: 'string', value: 'N', help: 'dialogues a minute at most' },
  character: { type: 'string', value: 'ID', help: 'who plays all roles; by default one character a role' },
  persona: { type: 'string', value: 'WHICH', help: 'benchmark (its system prompt, word for word) or dramatis' },
  'role-voices': { type: 'string', value: 'DIR', help: 'clips of the roles, for voices that clone and for similarity' },
  'role-voices-consent': { type: 'string', value: 'WHO', help: 'who allowed them to be cloned, and how that is known' },
  'user-text': { type: 'boolean', help: 'send the user’s words, not the recordings' },
  'teacher-forced': { type: 'boolean', help: 'the history holds the reference’s answers' },
  speed: { type: 'string', value: 'X', help: 'stream recordings X times as fast as spoken (1)' },
  reference: { type: 'string', value: 'KEY', help: 'role_speech_path1, 2 or 3, where there are three' },
  roles: { type: 'string', value: 'A,B', help: 'these roles alone' },
  language: { type: 'string', value: 'en|zh', help: 'this language alone' },
  mode: { type: 'string', value: 'single|multi', help: 'these dialogues alone' },
  limit: { type: 'string', value: 'N', help: 'the first N of them' },
  ...judgeFlags,
  aggregation: { type: 'string', value: 'HOW', help: 'mean-of-ratios (default) or ratio-of-sums' },
  cues: {
    type: 'string',
    value: 'A,B',
    help: 'measure beside the judge: pitch, rate, wer, dnsmos, similarity, or all',
  },
  'cue-recognizer': {
    type: 'string',
    value: 'URL#MODEL',
    help: 'transcription server for wer; by default Moonshine, English alone',
  },
  'cue-key-env': { type: 'string', value: 'NAME', help: 'the environment variable that holds its key' },
  'speaker-model': { type: 'string', value: 'FILE,…', help: 'for similarity: CAM++, WavLM-large SV, as ONNX' },
  'dnsmos-model': { type: 'string', value: 'FILE', help: 'for dnsmos: sig_bak_ovr.onnx of Microsoft' },
  seed: { type: 'string', value: 'N', help: 'of the bootstrap (1)' },
} as const satisfies Record<string, EvalFlag>;

type FlagName = keyof typeof flags;

/** `dramatis eval run`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const synopsis = '--data DIR --out DIR [--agent WHO | --outputs DIR] [--judge URL --judge-model MODEL] …';
  const parsed = parseFlags('run', synopsis, args, flags, host, { takesServerFlags: true });
  if (parsed === undefined) return 0;
  if (parsed.positionals.length > 0) throw new EvalError('usage', `What is "${parsed.positionals[0]}"? See --help.`);
  const out = textOf(parsed.values.out);
  if (out === undefined) throw new EvalError('usage', '--out is needed: a folder for the run.');
  return execute(
    {
      config: configOf(parsed),
      folder: path.resolve(out),
      resume: false,
      secrets: parsed.secrets,
      maxDollars: numberOf(parsed.values['max-cost'], 'max-cost'),
      maxMinutes: numberOf(parsed.values['max-minutes'], 'max-minutes'),
    },
    host,
  );
}

function configOf({ values, server }: EvalArguments<FlagName>): RunConfig {
  const text = (flag: FlagName): string | undefined => textOf(values[flag]);
  const number = (flag: FlagName): number | undefined => numberOf(values[flag], flag);
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
  if (data === undefined) throw new EvalError('usage', '--data is needed: the folder that contains test_data/.');
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
    server,
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
    cueRecognizer: cueRecognizerOf(text('cue-recognizer'), text('cue-key-env')),
    speakerModels: list('speaker-model')?.map((file) => path.resolve(file)),
    dnsmosModel: folder('dnsmos-model'),
    seed: number('seed'),
  };
  return parseRunConfig(given(wanted));
}

function cueRecognizerOf(given: string | undefined, keyEnv: string | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const [url = '', model = ''] = given.split('#');
  if (url === '' || model === '') throw new EvalError('usage', '--cue-recognizer is URL#MODEL.');
  return { url, model, ...(keyEnv === undefined ? {} : { keyEnv }) };
}

/** Validates a run configuration. Throws `EvalError` if it is invalid. */
export function parseRunConfig(wanted: Record<string, unknown>): RunConfig {
  const parsed = runConfigSchema.safeParse(wanted);
  if (parsed.success) return parsed.data;
  throw new EvalError('usage', `This cannot be had:\n${z.prettifyError(parsed.error)}`);
}
