import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { farModel, stageKind } from '../../jobs/far-models.ts';
import type { JobsWanted } from '../../jobs/job-flags.ts';
import { openJobs } from '../../jobs/open-jobs.ts';
import { runBuild, type BuildOptions, type BuildReport, type StageModel } from '../runner/build.ts';
import type { Pipeline } from '../runner/stage.ts';
import type { DataHost } from './host.ts';
import { modelParts, type modelsIn } from './models.ts';

/** Input of workers to open the models of a build. */
export interface FarBuildOptions {
  readonly wanted: JobsWanted;
  readonly models: Parameters<typeof modelsIn>[0];
  readonly limits: Parameters<typeof modelsIn>[1];
  readonly host: Pick<DataHost, 'jobs' | 'note'>;
}

/** Runs a build with workers, which call the models. Throws `EvalError`. */
export async function runFarBuild(
  pipeline: Pipeline,
  options: BuildOptions,
  { wanted, models, limits, host }: FarBuildOptions,
): Promise<BuildReport> {
  const folder = path.resolve(options.folder);
  await mkdir(folder, { recursive: true });
  const parts = modelParts(models.model, limits.stages).map(({ stage }) => stage);
  const places = { atOnce: limits.concurrency, isEach: false };
  const kinds = Object.fromEntries(parts.map((part) => [stageKind(part), places]));
  const about = { ...models, ...limits };
  const facts = { work: 'build', folder, about, kinds, maxDollars: options.maxDollars } as const;
  const jobs = await openJobs({ wanted, facts, spentDollars: 0, secrets: {}, host });
  const opened = new Map<string, StageModel>();
  const modelOf = (stage: string): StageModel => {
    const kind = stageKind(parts.includes(stage) ? stage : '');
    const known = opened.get(stage) ?? farModel(options.modelOf(stage), { stage, kind }, jobs.coordinator);
    opened.set(stage, known);
    return known;
  };
  let isWhole = false;
  try {
    const report = await runBuild(pipeline, { ...options, modelOf });
    isWhole = report.stopped === null && report.stages.every(({ failed }) => failed === 0);
    return report;
  } finally {
    await jobs.close(isWhole);
  }
}
