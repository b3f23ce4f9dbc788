import path from 'node:path';
import { readCatalogue, type CatalogueModel } from '../../voices/models/catalogue.ts';
import { findInstalled, type InstalledRecord } from '../../voices/models/installed.ts';
import type { Config } from '../config/config.ts';
import type { EngineSettings, Turns } from './engines-file.ts';

/** The settings that bear on what is installed. */
export type InstalledSettings = Partial<Pick<Config, 'auto' | 'dataDir' | 'modelCatalogue'>> & {
  /** Ids of models that are passed over. */
  readonly damaged?: readonly string[];
};

/** What is installed, as an engines file would say it. */
export interface AutoEngines {
  readonly engines: Readonly<Record<string, EngineSettings>>;
  readonly recognizer?: readonly string[];
  readonly mind?: readonly string[];
  readonly synthesizer?: readonly string[];
  readonly turns?: Turns;
}

/** An installed model, and what to tell an engine of its files. */
interface Found {
  readonly model: CatalogueModel;
  readonly files: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>;
}

/** The embedded engine that stands behind each stage. */
const behind = { recognizer: 'moonshine', mind: 'retrieval', synthesizer: 'embedded' } as const;

/**
 * The best installed model for each stage, by the catalogue's order; undefined without `--auto`. Its hash is checked once more when
 * the engine loads it, and the embedded engine steps in where that fails; see `planWhole`.
 */
export function autoEngines(settings: InstalledSettings): AutoEngines | undefined {
  if (settings.auto !== true) return undefined;
  const best = (role: CatalogueModel['role']): Found | undefined => bestInstalled(settings, role);
  const chains: Partial<Record<keyof typeof behind, readonly string[]>> = {};
  const engines: Record<string, EngineSettings> = {};
  for (const stage of Object.keys(behind) as (keyof typeof behind)[]) {
    const found = best(stage);
    if (found === undefined) continue;
    chains[stage] = [found.model.id, behind[stage]];
    engines[found.model.id] = engineOf(found, best('punctuation'));
  }
  const turns = best('turns')?.files['model'];
  return {
    engines,
    ...chains,
    ...(turns && { turns: { kind: 'smart-turn', model: turns.path, sha256: turns.sha256 } }),
  };
}

/** Settings with the installed models that judge voices, where the user named none and `--auto` is on. */
export function withInstalledJudges<
  Settings extends InstalledSettings &
    Partial<Pick<Config, 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808'>>,
>(settings: Settings): Settings {
  if (settings.auto !== true) return settings;
  const encoder =
    settings.speakerEncoder === undefined ? bestInstalled(settings, 'speakers')?.files['model'] : undefined;
  const quality = settings.dnsmos === undefined ? bestInstalled(settings, 'quality')?.files : undefined;
  return {
    ...settings,
    ...(encoder && { speakerEncoder: encoder.path, speakerEncoderHash: encoder.sha256 }),
    ...(quality && { dnsmos: quality['p835']?.path, dnsmosP808: settings.dnsmosP808 ?? quality['p808']?.path }),
  };
}

function bestInstalled(
  { dataDir = '', modelCatalogue, damaged = [] }: InstalledSettings,
  role: CatalogueModel['role'],
): Found | undefined {
  const candidates = readCatalogue(modelCatalogue)
    .filter((model) => model.role === role && model.auto !== undefined && !damaged.includes(model.id))
    .toSorted((one, other) => (one.auto ?? 0) - (other.auto ?? 0));
  for (const model of candidates) {
    const installed = findInstalled(dataDir, model);
    if (installed !== undefined) return { model, files: placesOf(installed) };
  }
  return undefined;
}

function placesOf({ folder, record }: { readonly folder: string; readonly record: InstalledRecord }): Found['files'] {
  return Object.fromEntries(
    Object.entries(record.files).map(([name, { file, sha256 }]) => [name, { path: path.join(folder, file), sha256 }]),
  );
}

function engineOf({ model, files }: Found, punctuation: Found | undefined): EngineSettings {
  const engine = model.engine ?? { kind: model.id };
  if (engine.kind === 'node-llama-cpp') return { ...engine, ...files };
  // The streaming families write no marks, by which ends of turns are judged.
  const isBare = String(engine['family']).startsWith('streaming-') && punctuation !== undefined;
  const family = punctuation?.model.engine?.['family'];
  return { ...engine, files, ...(isBare && { punctuation: { family, files: punctuation.files } }) };
}
