import { downloadBytes, findModel, type CatalogueModel } from '../../../voices/models/catalogue.ts';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { findInstalled, modelsFolder, verifyModel } from '../../../voices/models/installed.ts';
import { ModelError } from '../../../voices/models/model-error.ts';
import { removeModel } from '../../../voices/models/pull.ts';
import type { ModelsCommand } from './models.ts';
import { UsageError } from '../../terminal/flags.ts';
import { table } from '../../terminal/table.ts';
import { jsonText, printLine, wrap } from '../../terminal/text.ts';

/** `dramatis models list`. */
export async function list({ catalogue, config, json }: ModelsCommand): Promise<number> {
  const rows = catalogue.map((model) => ({ model, installed: findInstalled(config.dataDir, model) }));
  if (json) {
    const shown = rows.map(({ model, installed }) => ({
      ...model,
      bytes: downloadBytes(model) ?? null,
      folder: installed?.folder ?? null,
    }));
    printLine(jsonText(shown, 2));
    return 0;
  }
  const [head = '', rule = '', ...lines] = table(
    ['', 'id', 'role', 'languages', 'download'],
    rows.map(({ model, installed }) => [markOf(model, installed, config.dataDir), ...cellsOf(model)]),
  ).split('\n');
  printLine(`${head}\n${rule}`);
  for (const [index, line] of lines.entries()) {
    const { title, use, licence } = (rows[index] as (typeof rows)[number]).model;
    printLine(`${line}\n${wrap(`     ${title}: ${use}; ${licence}`, 5)}`);
  }
  printLine(wrap(`\n✓: installed; ✗: damaged, \`dramatis models pull ID\` downloads it again.`, 0));
  printLine(wrap('`dramatis models pull ID` installs one; `dramatis serve --auto` uses the installed models.', 0));
  return 0;
}

function markOf(model: CatalogueModel, installed: unknown, dataDir: string): string {
  if (installed !== undefined) return '✓';
  return hasFolder(dataDir, model) ? '✗' : '';
}

/** Returns true if a model's folder exists, complete or not. */
function hasFolder(dataDir: string, { id }: CatalogueModel): boolean {
  return existsSync(path.join(modelsFolder(dataDir), id));
}

function cellsOf(model: CatalogueModel): string[] {
  const { id, role, languages } = model;
  const bytes = downloadBytes(model);
  const size = bytes === undefined ? '?' : `${(bytes / 1e6).toFixed(0)} MB`;
  const shown = languages.length > 5 ? `${languages.length} languages` : languages.join(', ');
  return [id, role, shown, model.downloads.length === 0 ? '–' : size];
}

/**
 * `dramatis models verify`: checks the named models, or all that are present, complete or not. Exit status 1 if any is
 * damaged.
 */
export async function verify({ catalogue, config, names, json }: ModelsCommand): Promise<number> {
  const { dataDir } = config;
  const chosen =
    names.length > 0
      ? names.map((id) => findModel(catalogue, id))
      : catalogue.filter((model) => hasFolder(dataDir, model));
  const findings: { readonly id: string; readonly ok: boolean; readonly says: string; readonly code?: string }[] = [];
  for (const model of chosen) {
    const { id } = model;
    try {
      const { downloads } = await verifyModel(dataDir, model);
      const pinned = downloads.some((each) => each.pinned);
      findings.push({
        id,
        ok: true,
        says: pinned ? 'intact; same as the first download here' : 'intact; same as published',
      });
    } catch (fault) {
      if (!(fault instanceof ModelError)) throw fault;
      findings.push({ id, ok: false, says: fault.message, code: fault.code });
    }
  }
  if (json) printLine(jsonText(findings, 2));
  else for (const { id, ok, says } of findings) printLine(wrap(ok ? `✓ ${id}  ${says}` : `✗ ${says}`, 2));
  if (!json && findings.length === 0) printLine('No model is installed.');
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

/** `dramatis models remove ID…`. */
export async function remove({ catalogue, config, names, json }: ModelsCommand): Promise<number> {
  const models = namedModels(catalogue, names);
  for (const model of models) await removeModel(model, config.dataDir);
  const removed = models.map(({ id }) => id);
  printLine(json ? jsonText({ removed }) : `Removed ${removed.join(', ')}.`);
  return 0;
}

/** Finds the named models. Throws a `UsageError` if none is named. */
export function namedModels(catalogue: readonly CatalogueModel[], names: readonly string[]): CatalogueModel[] {
  if (names.length === 0) throw new UsageError('Name a model. `dramatis models list` lists them.');
  return names.map((id) => findModel(catalogue, id));
}
