import path from 'node:path';
import { readCatalogue, type CatalogueModel } from '../../voices/models/catalogue.ts';
import { findInstalled, type InstalledRecord } from '../../voices/models/installed.ts';
import type { Config } from '../config/config.ts';
import { savedModels, type ChosenModels } from './chosen-models.ts';
import type { EngineSettings, TurnDetection } from './engines-file.ts';

/** Settings that determine which installed models are used. */
export type InstalledSettings = Partial<Pick<Config, 'auto' | 'dataDir' | 'modelCatalogue'>> & {
  /** Ids of damaged models, which are skipped. */
  readonly damaged?: readonly string[];
  /** Models chosen on the page. Default: those of an earlier run. */
  readonly chosen?: ChosenModels;
};

/** The installed models, in the form of an engines file. */
export interface AutoEngines {
  readonly engines: Readonly<Record<string, EngineSettings>>;
  readonly asr?: readonly string[];
  readonly llm?: readonly string[];
  readonly tts?: readonly string[];
  readonly turnDetector?: TurnDetection;
}

/** An installed model, with the files for its engine's settings. */
interface Found {
  readonly model: CatalogueModel;
  readonly files: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>;
}

/** The embedded engine that is the fallback of each stage. */
const fallback = { asr: 'moonshine', llm: 'retrieval', tts: 'embedded' } as const;

/**
 * Picks an installed model for each stage: the one that was chosen on the page, or with `--auto` the best by the order
 * in the catalogue. Undefined without either. The engine verifies the hash again when it loads the model, and the
 * embedded engine takes over if that fails; see `planIntactEngines`.
 */
export function autoEngines(settings: InstalledSettings): AutoEngines | undefined {
  const { auto = false, chosen = savedModels(settings.dataDir) } = settings;
  const wanted: Partial<Record<CatalogueModel['role'], string | undefined>> = chosen;
  if (!auto && Object.values(chosen).every((id) => id === undefined)) return undefined;
  const best = (role: CatalogueModel['role']): Found | undefined =>
    chosenModel(settings, role, wanted[role]) ?? (auto ? bestInstalled(settings, role) : undefined);
  const chains: Partial<Record<keyof typeof fallback, readonly string[]>> = {};
  const engines: Record<string, EngineSettings> = {};
  for (const stage of Object.keys(fallback) as (keyof typeof fallback)[]) {
    const found = best(stage);
    if (found === undefined) continue;
    chains[stage] = [found.model.id, fallback[stage]];
    engines[found.model.id] = engineOf(found, bestInstalled(settings, 'punctuation'));
  }
  const detector = best('turn-detector')?.files['model'];
  return {
    engines,
    ...chains,
    ...(detector && { turnDetector: { kind: 'smart-turn', model: detector.path, sha256: detector.sha256 } }),
  };
}

/** Adds the installed speaker encoder and quality models to the settings, if `--auto` is on and the user named none. */
export function withInstalledJudges<
  Settings extends InstalledSettings &
    Partial<Pick<Config, 'speakerEncoder' | 'speakerEncoderHash' | 'dnsmos' | 'dnsmosP808'>>,
>(settings: Settings): Settings {
  if (settings.auto !== true) return settings;
  const encoder =
    settings.speakerEncoder === undefined ? bestInstalled(settings, 'speaker-encoder')?.files['model'] : undefined;
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
  return firstInstalled(candidates, dataDir);
}

/** The model with this id; undefined if it is not installed, or has another role. */
function chosenModel(
  { dataDir = '', modelCatalogue, damaged = [] }: InstalledSettings,
  role: CatalogueModel['role'],
  id: string | undefined,
): Found | undefined {
  if (id === undefined || damaged.includes(id)) return undefined;
  const named = readCatalogue(modelCatalogue).filter((model) => model.id === id && model.role === role);
  return firstInstalled(named, dataDir);
}

function firstInstalled(models: readonly CatalogueModel[], dataDir: string): Found | undefined {
  for (const model of models) {
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
  // The streaming families write no punctuation, which turn detection needs.
  const isBare = String(engine['family']).startsWith('streaming-') && punctuation !== undefined;
  const family = punctuation?.model.engine?.['family'];
  return { ...engine, files, ...(isBare && { punctuation: { family, files: punctuation.files } }) };
}
