import { createHash } from 'node:crypto';
import path from 'node:path';
import { writeFileAtomic } from '../../voices/runtime/files.ts';
import { type AudioStore, runPaths } from '../run-folder.ts';
import { EvalError } from '../eval-error.ts';
import { readRunLog, type RunRecord } from '../run-log.ts';
import { type DialogueOutput, dialogueFacts, type DialogueFacts } from './data/task.ts';
import { judgeHealth } from './judging/judge-health.ts';
import { judgedPairs } from './judging/judge-scorer.ts';
import { openProtocol, type Protocol } from './judging/protocols.ts';
import { runConfigSchema, type RunConfig } from './run-config.ts';
import type { JudgedSample } from './judging/scores.ts';

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
    throw new EvalError('log', `${folder} is not a run of SpeechRole-Eval. Give a folder that \`eval run\` has made.`);
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

/** Writes every judgment of a run to its `results.json`, sorted by dialogue id: the same run gives the same bytes. */
export async function writeResults({ config, protocol, judged, folder }: RunView): Promise<void> {
  const head = { protocol: protocol.name, judge: config.judge?.model ?? null, parser: config.parser };
  await writeFileAtomic(
    path.join(folder, 'results.json'),
    `${JSON.stringify({ ...head, samples: judged }, null, 1)}\n`,
  );
}

/** Returns a run's display name: the configured name, otherwise the agent, or the folder's name for `ours`. */
export function runName({ config, folder }: Pick<RunView, 'config' | 'folder'>): string {
  return config.name !== '' ? config.name : config.agent === 'ours' ? path.basename(folder) : config.agent;
}

/**
 * Names the protocol of a run and its prompts, since other words are another measurement: `v1 · Dramatis wording`, or
 * name and hash of the user's prompts. The hash of the paper's is not known, so `official text` has no hash.
 */
export function protocolLabel({ config, record, protocol }: Pick<RunView, 'config' | 'record' | 'protocol'>): string {
  const used = JSON.stringify(sortedHashes(record.header.prompts));
  const hash = createHash('sha256').update(used).digest('hex').slice(0, 8);
  const isOurs = used === JSON.stringify(sortedHashes(protocol.promptHashes));
  const wording = isOurs
    ? 'Dramatis wording'
    : config.prompts === undefined
      ? `Dramatis wording of another version (${hash})`
      : config.promptsName === 'official text'
        ? config.promptsName
        : `${config.promptsName ?? 'prompts'} (${hash})`;
  return `${config.protocol} · ${wording}`;
}

/** Facts on which two runs must agree, so that their scores are comparable. */
export function comparability(view: RunView): Readonly<Record<string, string>> {
  const { config, record, protocol } = view;
  const { models } = judgeHealth(record, protocol, config.parser);
  return {
    protocol: config.protocol,
    prompts: sortedHashes(record.header.prompts)
      .map(([file, hash]) => `${file} ${hash.slice(0, 8)}`)
      .join(', '),
    reference: config.reference,
    judge: config.judge?.model ?? 'none',
    'model that answered': models.join(', ') || 'unknown',
    repeats: String(config.repeats),
    parser: config.parser,
    aggregation: config.aggregation,
  };
}

function sortedHashes(hashes: Readonly<Record<string, string>>): (readonly [file: string, hash: string])[] {
  return Object.entries(hashes).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
