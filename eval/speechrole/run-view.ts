import path from 'node:path';
import type { AudioStore } from '../audio-store.ts';
import { EvalError } from '../eval-error.ts';
import { runPaths } from '../run-folder.ts';
import { readRunLog, type RunRecord } from '../run-log.ts';
import type { DialogueOutput } from './data/answers.ts';
import { judgedPairs } from './judging/judge-scorer.ts';
import { openProtocol, type Protocol } from './judging/protocols.ts';
import { runConfigSchema, type RunConfig } from './run-config.ts';
import type { JudgedSample } from './judging/scores.ts';
import { dialogueFacts, type DialogueFacts } from './data/task.ts';

/** A run reconstructed from its log for scoring and reports; makes no calls. */
export interface RunView {
  readonly folder: string;
  readonly record: RunRecord;
  readonly config: RunConfig;
  readonly protocol: Protocol;
  readonly audio: AudioStore;
  /** Dialogue facts by sample id, in the order of the ids. */
  readonly facts: ReadonlyMap<string, DialogueFacts>;
  /** In the same order. */
  readonly judged: readonly JudgedSample[];
  outputOf(sample: string): DialogueOutput | undefined;
}

/** Reads the run in a folder. `parser` and `aggregation` may override those it was made with. */
export async function readRun(
  folder: string,
  wishes: Partial<Pick<RunConfig, 'parser' | 'aggregation'>> = {},
): Promise<RunView> {
  const { logFile, audio } = runPaths(folder);
  const record = await readRunLog(logFile);
  const parsed = runConfigSchema.safeParse(record.header.config);
  if (record.header.task.name !== 'speechrole-eval' || !parsed.success)
    throw new EvalError('log', `${folder}: this is no run of SpeechRole-Eval.`);
  const config = { ...parsed.data, ...wishes };
  // Only the parsers are used, so default prompts do: a custom prompt folder may be gone by now.
  const protocol = openProtocol(config.protocol, { repeats: config.repeats });
  const facts = new Map(
    [...record.samples]
      .map(([id, about]) => [id, dialogueFacts.parse(about)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const judged = [...facts].map(([id, { role, language, mode, domain, category }]): JudgedSample => {
    const scores = judgedPairs(protocol, record.measured.get(id) ?? new Map(), config.parser);
    return { id, role, language, mode, domain, category, scores };
  });
  return {
    folder: path.resolve(folder),
    record,
    config,
    protocol,
    audio,
    facts,
    judged,
    outputOf: (sample) => record.outputs.get(sample) as DialogueOutput | undefined,
  };
}

/** Returns a run's display name: the configured name, otherwise the agent, or the folder's name for `ours`. */
export function runName({ config, folder }: Pick<RunView, 'config' | 'folder'>): string {
  return config.name !== '' ? config.name : config.agent === 'ours' ? path.basename(folder) : config.agent;
}
