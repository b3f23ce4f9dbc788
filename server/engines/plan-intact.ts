import { existsSync } from 'node:fs';
import path from 'node:path';
import { findModel, readCatalogue } from '../../voices/models/catalogue.ts';
import { findInstalled, modelsFolder, recordPath, verifyModel } from '../../voices/models/installed.ts';
import { ModelError } from '../../voices/models/model-error.ts';
import { withInstalledJudges } from './auto-engines.ts';
import { planEngines, type EnginePlan, type PlanSettings } from './engine-plan.ts';

/**
 * Plans the engines so that `--auto` uses only intact models. Notes name damaged ones, and say how to repair them.
 * Hashes the files, as the engines do later, from the page cache. `settings` name the skipped models.
 */
export async function planIntactEngines<Given extends PlanSettings>(
  given: Given,
): Promise<{ readonly plan: EnginePlan; readonly settings: Given }> {
  const damaged = new Set(given.auto === true ? notWhole(given) : []);
  const own = given.auto === true ? usedBy({ ...given, auto: false }) : [];
  for (;;) {
    const settings = { ...given, damaged: [...damaged] };
    const plan = planEngines(settings);
    const before = damaged.size;
    const used = given.auto === true ? usedBy(settings, plan) : [];
    for (const id of used.filter((each) => !own.includes(each) && !damaged.has(each)))
      if (!(await isWhole(id, given))) damaged.add(id);
    if (damaged.size > before) continue;
    return { plan: { ...plan, notes: [...plan.notes, ...[...damaged].map(noteOn)] }, settings };
  }
}

function noteOn(id: string): string {
  return `--auto skipped ${id}, which is damaged or not the catalogue’s version. For details: \`dramatis models verify ${id}\`; to repair it: \`dramatis models pull ${id} --again\`.`;
}

/** Ids of installed models that are outdated, or whose files are missing or of the wrong size. */
function notWhole({ dataDir = '', modelCatalogue }: PlanSettings): string[] {
  return readCatalogue(modelCatalogue)
    .filter((model) => model.auto !== undefined)
    .filter(({ id }) => existsSync(recordPath(path.join(modelsFolder(dataDir), id))))
    .filter((model) => findInstalled(dataDir, model) === undefined)
    .map(({ id }) => id);
}

async function isWhole(id: string, { dataDir = '', modelCatalogue }: PlanSettings): Promise<boolean> {
  try {
    await verifyModel(dataDir, findModel(readCatalogue(modelCatalogue), id));
    return true;
  } catch (fault) {
    if (fault instanceof ModelError) return false;
    throw fault;
  }
}

/** Ids of the installed models that a plan uses, including the speaker encoder loaded with it. */
function usedBy(settings: PlanSettings, plan = planEngines(settings)): string[] {
  const home = modelsFolder(settings.dataDir ?? '') + path.sep;
  const { speakerEncoder } = withInstalledJudges<PlanSettings & { readonly speakerEncoder?: string | undefined }>(
    settings,
  );
  const { asr, llm, tts, omni, turnDetector } = plan;
  const files = stringsIn([asr, llm, tts, omni, turnDetector, speakerEncoder]);
  const ids = files.filter((each) => each.startsWith(home)).map((each) => each.slice(home.length).split(path.sep)[0]);
  return [...new Set(ids)].filter((id) => id !== undefined);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
