import { downloadBytes, findModel, type CatalogueModel } from '../../voices/models/catalogue.ts';
import { findInstalled, verifyModel } from '../../voices/models/installed.ts';
import { ModelError } from '../../voices/models/model-error.ts';
import { removeModel } from '../../voices/models/pull.ts';
import type { ModelsCommand } from './models.ts';
import { table } from './table.ts';
import { UsageError } from './usage.ts';

/** `dramatis models list`. */
export async function list({ catalogue, config, json }: ModelsCommand): Promise<number> {
  const rows = catalogue.map((model) => ({ model, installed: findInstalled(config.dataDir, model) }));
  if (json) {
    const shown = rows.map(({ model, installed }) => ({
      ...model,
      bytes: downloadBytes(model) ?? null,
      folder: installed?.folder ?? null,
    }));
    console.log(JSON.stringify(shown, undefined, 2));
    return 0;
  }
  const head = ['', 'id', 'for', 'languages', 'download', 'licence', 'is'];
  console.log(
    table(
      head,
      rows.map(({ model, installed }) => [installed === undefined ? '' : '✓', ...cellsOf(model)]),
    ),
  );
  console.log(
    '\n✓: installed. `dramatis models pull ID` installs one; `dramatis serve --auto` uses what is installed.',
  );
  return 0;
}

function cellsOf(model: CatalogueModel): string[] {
  const { id, role, languages, licence, title, use } = model;
  const bytes = downloadBytes(model);
  const size = bytes === undefined ? '?' : `${(bytes / 1e6).toFixed(0)} MB`;
  const shown = languages.length > 5 ? `${languages.length} languages` : languages.join(', ');
  return [id, role, shown, model.downloads.length === 0 ? '–' : size, licence, `${title}: ${use}`];
}

/** `dramatis models verify`: exit status 1 where one is damaged; all that are installed unless some are named. */
export async function verify({ catalogue, config, names, json }: ModelsCommand): Promise<number> {
  const { dataDir } = config;
  const chosen =
    names.length > 0
      ? names.map((id) => findModel(catalogue, id))
      : catalogue.filter((model) => findInstalled(dataDir, model) !== undefined);
  const findings: { readonly id: string; readonly ok: boolean; readonly says: string; readonly code?: string }[] = [];
  for (const model of chosen) {
    const { id } = model;
    try {
      const { downloads } = await verifyModel(dataDir, model);
      const pinned = downloads.some((each) => each.pinned);
      findings.push({
        id,
        ok: true,
        says: pinned ? 'whole; as first downloaded here' : 'whole; as its publisher has it',
      });
    } catch (fault) {
      if (!(fault instanceof ModelError)) throw fault;
      findings.push({ id, ok: false, says: fault.message, code: fault.code });
    }
  }
  if (json) console.log(JSON.stringify(findings, undefined, 2));
  else for (const { id, ok, says } of findings) console.log(`${ok ? '✓' : '✗'} ${id}  ${says}`);
  if (!json && findings.length === 0) console.log('No model is installed.');
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

/** `dramatis models remove ID…`. */
export async function remove({ catalogue, config, names, json }: ModelsCommand): Promise<number> {
  const models = namedModels(catalogue, names);
  for (const model of models) await removeModel(model, config.dataDir);
  const removed = models.map(({ id }) => id);
  console.log(json ? JSON.stringify({ removed }) : `Removed ${removed.join(', ')}.`);
  return 0;
}

/** The models that are named; at least one must be. */
export function namedModels(catalogue: readonly CatalogueModel[], names: readonly string[]): CatalogueModel[] {
  if (names.length === 0) throw new UsageError('Name a model. `dramatis models list` lists them.');
  return names.map((id) => findModel(catalogue, id));
}
