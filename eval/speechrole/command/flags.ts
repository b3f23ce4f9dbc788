import { z } from 'zod';
import type { CommandLine, FlagFacts } from '../../../server/terminal/flags.ts';
import { agentFlags, selectionFlags } from '../../agents/agent-flags.ts';
import { EvalError } from '../../eval-error.ts';
import { judgeFlags, judgeOf, optionsOf, type Options } from '../../judge/judge-flags.ts';
import { runConfigSchema, type RunConfig } from '../run-config.ts';

/** Flags that select and configure the judge of recordings. */
export const speechJudgeFlags = {
  ...judgeFlags,
  judge: { type: 'string', value: 'URL', help: 'OpenAI-compatible server with audio input, such as https://…/v1' },
  protocol: { type: 'string', value: 'NAME', help: 'dramatis (default), v1 or v2' },
  repeats: { type: 'string', value: 'K', help: 'protocol dramatis: how often each order is asked (default 1)' },
} as const satisfies Record<string, FlagFacts>;

/** Flags of `eval run`. */
export const runFlags = {
  data: { type: 'string', value: 'DIR', help: 'test data: the folder that contains test_data/' },
  out: { type: 'string', value: 'DIR', help: 'folder of the run: log, audio, results' },
  agent: { type: 'string', value: 'WHO', help: 'ours (default), the URL of a Dramatis server, or openai-realtime:URL' },
  outputs: { type: 'string', value: 'DIR', help: 'score existing answers: model_output/<model>' },
  ...agentFlags,
  persona: { type: 'string', value: 'WHICH', help: 'benchmark (its system prompt, verbatim) or dramatis' },
  'role-voices': { type: 'string', value: 'DIR', help: 'clips of the roles, for voice cloning and similarity' },
  'role-voices-consent': { type: 'string', value: 'WHO', help: 'who allowed the cloning, and the evidence for it' },
  'user-text': { type: 'boolean', help: 'send the user’s text instead of the recordings' },
  'teacher-forced': { type: 'boolean', help: 'use the reference’s answers as history' },
  speed: { type: 'string', value: 'X', help: 'stream recordings at X times real time (default 1)' },
  reference: { type: 'string', value: 'KEY', help: 'role_speech_path1, 2 or 3, if the data has three references' },
  ...selectionFlags,
  mode: { type: 'string', value: 'single|multi', help: 'only these dialogues' },
  ...speechJudgeFlags,
  'judge-check': {
    type: 'string',
    value: 'DIR',
    help: 'folder of a passed check of this judge; without it, tables say “judge not checked”',
  },
  aggregation: { type: 'string', value: 'HOW', help: 'mean-of-ratios (default) or ratio-of-sums' },
  cues: { type: 'string', value: 'A,B', help: 'cues to measure: pitch, rate, wer, dnsmos, similarity, or all' },
  'cue-asr': { type: 'string', value: 'URL#MODEL', help: 'ASR server for wer (default: Moonshine, English only)' },
  'cue-asr-key-env': { type: 'string', value: 'NAME', help: 'environment variable that contains its key' },
  'speaker-model': { type: 'string', value: 'FILE,…', help: 'for similarity: CAM++ or WavLM-large SV, as ONNX' },
  'dnsmos-model': { type: 'string', value: 'FILE', help: 'for dnsmos: Microsoft’s sig_bak_ovr.onnx' },
  seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
} as const satisfies Record<string, FlagFacts>;

/**
 * Builds a run's configuration from the flags above, or from some of them; `fixed` overrides them. Throws an
 * `EvalError` if it is invalid.
 */
export function configOf(
  { values, settings }: Pick<CommandLine<string>, 'values' | 'settings'>,
  fixed: Partial<RunConfig> = {},
): RunConfig {
  const options = optionsOf(values, runFlags);
  const { data, outputs, agent, roles, language, mode, limit, speakerModel } = options;
  if (data === undefined) throw new EvalError('usage', '--data is required: the folder that contains test_data/.');
  if (outputs !== undefined && agent !== undefined)
    throw new EvalError('usage', 'Give --agent or --outputs, not both.');
  const plain = Object.keys(runConfigSchema.shape).map((key) => [key, options[key]] as const);
  const parsed = runConfigSchema.safeParse({
    ...Object.fromEntries(plain),
    agent: outputs === undefined ? agent : `outputs:${String(outputs)}`,
    server: settings,
    select: { roles, language, mode, limit },
    judge: judgeOf(options),
    cueAsr: cueAsrOf(options),
    speakerModels: speakerModel,
    ...fixed,
  });
  if (parsed.success) return parsed.data;
  throw new EvalError('usage', `Invalid configuration:\n${z.prettifyError(parsed.error)}`);
}

function cueAsrOf({ cueAsr, cueAsrKeyEnv: keyEnv }: Options): object | undefined {
  if (cueAsr === undefined) return undefined;
  const [url = '', model = ''] = String(cueAsr).split('#');
  if (url === '' || model === '') throw new EvalError('usage', '--cue-asr must be URL#MODEL.');
  return { url, model, keyEnv };
}
