import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Embedder } from '../../../agents/embeddings/embedder.ts';
import { EvalError } from '../../eval-error.ts';
import { BudgetReached, openBudget, type Budget, type Endpoint, type EvalClock } from '../../limits.ts';
import { openRunFolder } from '../../run-folder.ts';
import { openJournal, type Journal } from './journal.ts';
import type { TextModel } from './model.ts';
import { openDraft } from './record-file.ts';
import { runStage } from './run-stage.ts';
import type { StageReport } from './stage-counts.ts';
import type { Pipeline } from './stage.ts';
import { writeOutput } from './write-output.ts';

/** The model of a stage. */
export interface StageModel {
  readonly model: TextModel;
  readonly endpoint: Endpoint;
  /** US dollars per million tokens. */
  readonly prices: { readonly input: number; readonly output: number };
}

/** Settings of a build. */
export interface BuildOptions {
  readonly folder: string;
  readonly modelOf: (stage: string) => StageModel;
  readonly embedder?: Embedder | undefined;
  readonly clock: EvalClock;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  /** The user's declaration of the rights to the input. */
  readonly rights: string;
  readonly limit?: number | undefined;
  readonly maxDollars?: number | undefined;
  /** Runs only this stage, on the records that an earlier build has left. */
  readonly only?: string | undefined;
  readonly onProgress?: (stage: string, done: number) => void;
}

/** Summary of a build, for `report.json`. Holds no times, so that a resumed build writes the same file. */
export interface BuildReport {
  readonly build: string;
  readonly rights: string;
  readonly tokens: string;
  readonly stages: readonly StageReport[];
  /** Why the build ended before its last stage; null if it did not. */
  readonly stopped: string | null;
}

/** Everything that a stage needs of a build. */
export interface OpenBuild extends BuildOptions {
  readonly journal: Journal;
  readonly budget: Budget;
}

/**
 * Runs a build in a folder that it locks. Stages are repeated from the journal, so a build may be killed at any moment
 * and pays for nothing twice. Resolves to the report, which is in the folder too.
 */
export async function runBuild(pipeline: Pipeline, options: BuildOptions): Promise<BuildReport> {
  await using folder = await openRunFolder(options.folder);
  const journal = await openJournal(path.join(folder.path, 'journal.jsonl'), pipeline.name);
  try {
    const { clock, maxDollars } = options;
    const budget = openBudget({ maxDollars }, { clock, spentDollars: journal.spentDollars });
    const open: OpenBuild = { ...options, journal, budget };
    const { stages, stopped } = await runStages(pipeline, open);
    const report: BuildReport = {
      build: pipeline.name,
      rights: options.rights,
      tokens: 'estimate: 4 letters, or 1.5 Han characters, a token',
      stages,
      stopped,
    };
    const isWhole = stopped === null && options.only === undefined;
    await writeOutput(
      pipeline,
      report,
      isWhole
        ? {
            records: workFile(options.folder, pipeline, pipeline.stages.length),
            taken: workFile(options.folder, pipeline, pipeline.stages.length - 1),
          }
        : undefined,
      options,
    );
    return report;
  } finally {
    await journal.close();
  }
}

async function runStages(
  pipeline: Pipeline,
  build: OpenBuild,
): Promise<{ readonly stages: readonly StageReport[]; readonly stopped: string | null }> {
  const { only, folder } = build;
  await mkdir(path.join(folder, 'work'), { recursive: true });
  const chosen = only === undefined ? -1 : pipeline.stages.findIndex(({ name }) => name === only);
  if (only !== undefined && chosen < 0)
    throw new EvalError(
      'usage',
      `--only: ${pipeline.name} has no stage "${only}". Its stages are ${pipeline.stages.map(({ name }) => name).join(', ')}.`,
    );
  if (chosen >= 0 && !existsSync(workFile(folder, pipeline, chosen)))
    throw new EvalError('usage', `--only: the stages before ${only} have not been built in ${folder}.`);
  if (chosen < 0) await writeInput(pipeline, build);
  const stages: StageReport[] = [];
  for (const [index, stage] of pipeline.stages.entries()) {
    if (chosen >= 0 && chosen !== index) continue;
    const report = await runStage(stage, build, {
      from: workFile(folder, pipeline, index),
      to: workFile(folder, pipeline, index + 1),
    }).catch((fault: unknown) => {
      if (fault instanceof BudgetReached) return fault.message;
      throw fault;
    });
    if (typeof report === 'string') return { stages, stopped: report };
    stages.push(report);
    if (report.isHopeless)
      return { stages, stopped: `${stage.name}: the model gave no answer. ${report.failure ?? ''}` };
  }
  return { stages, stopped: null };
}

/** File of the records before stage `index`, and after the last one. */
function workFile(folder: string, { stages }: Pipeline, index: number): string {
  const name = index === 0 ? 'input' : (stages[index - 1]?.name ?? '');
  return path.join(folder, 'work', `${String(index).padStart(2, '0')}-${name}.jsonl`);
}

async function writeInput(pipeline: Pipeline, { folder, limit = Infinity, signal }: OpenBuild): Promise<void> {
  const draft = await openDraft(workFile(folder, pipeline, 0));
  let count = 0;
  try {
    if (limit > 0)
      for await (const record of pipeline.records(signal)) {
        await draft.write(`${JSON.stringify(record)}\n`);
        count += 1;
        if (count >= limit) break;
      }
  } catch (fault) {
    await draft.abandon();
    throw fault;
  }
  await draft.finish();
  if (count === 0) throw new EvalError('data', `${pipeline.name}: the input has nothing to read. Check --in.`);
}
