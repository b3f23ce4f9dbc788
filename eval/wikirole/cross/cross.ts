import { EvalError } from '../../eval-error.ts';
import { holm } from '../../statistics.ts';
import { differenceOf, rowOf, type Cell, type Difference, type Metric, type ScoredSample } from '../../text/rows.ts';
import type { TextRun } from '../../text/run.ts';
import { failuresByCode, type FailuresByCode } from '../../text/summary.ts';
import { wikiRole, type WikiRoleConfig, type WikiRoleOutput } from '../task.ts';
import type { WikiRoleFacts } from '../test-set.ts';

export type WikiRoleRun = TextRun<WikiRoleConfig, WikiRoleFacts, WikiRoleOutput>;

/**
 * A run's place in the matrix. Without a seed it is the supervisor itself, with profiles in its prompt (DITTO's
 * supervision performance); without a supervisor it is a seed model before any training.
 */
export interface CrossPlace {
  readonly supervisor: string | null;
  readonly seed: string | null;
}

/** A run of the matrix, and its figure in one metric. */
export interface CrossCell extends CrossPlace, Cell {
  /** Absolute path of the run. */
  readonly folder: string;
}

/** A trained model minus its supervisor with profiles, or minus itself before training. */
export interface CrossDifference extends CrossPlace, Difference {
  readonly minus: 'supervision' | 'untrained';
}

/** Everything about one metric. */
export interface CrossMetric {
  readonly metric: Metric;
  readonly cells: readonly CrossCell[];
  /** p values after Holm, over all differences of the metric. */
  readonly differences: readonly CrossDifference[];
  /** Trained models that are better than their supervisor, of those that can be compared. */
  readonly above: { readonly n: number; readonly of: number };
}

/** Several seed models trained on the simulated data of several supervisors (DITTO, section 6). */
export interface Cross {
  /** In the order of the runs given. */
  readonly supervisors: readonly string[];
  readonly seeds: readonly string[];
  readonly metrics: readonly CrossMetric[];
  readonly runs: readonly CrossRun[];
}

/** Counts of a run: what is missing, and why. */
export interface CrossRun extends CrossPlace {
  readonly folder: string;
  readonly roles: number;
  readonly answered: number;
  /** Why the run's last part ended; null if it was killed, or is running. */
  readonly ended: string | null;
  readonly failures: FailuresByCode;
}

/** Metrics of the paper's three plots. */
const keys = ['consistency', 'knowledge', 'rejection'];

/** Computes the matrices. Throws an `EvalError` if a run has no tags, or two have the same place. */
export function crossOf(runs: readonly WikiRoleRun[], language: 'en' | 'zh' | undefined): Cross {
  const placed = runs.map((run) => ({ run, place: placeOf(run), scored: scoredIn(run, language) }));
  for (const [at, { run, place, scored }] of placed.entries()) {
    const other = placed.slice(0, at).find((each) => nameOf(each.place) === nameOf(place));
    if (other !== undefined)
      throw new EvalError(
        'usage',
        `${other.run.folder} and ${run.folder} are both ${nameOf(place)}. Give one of them.`,
      );
    if (scored.length === 0)
      throw new EvalError('usage', `${run.folder} has no role in the language ${language}. Leave out --language.`);
  }
  const known = (names: readonly (string | null)[]): string[] => [...new Set(names.filter((name) => name !== null))];
  return {
    supervisors: known(placed.map(({ place }) => place.supervisor)),
    seeds: known(placed.map(({ place }) => place.seed)),
    metrics: wikiRole.metrics.filter(({ key }) => keys.includes(key)).map((metric) => metricOf(metric, placed)),
    runs: placed.map(({ run, place }) => ({
      ...place,
      folder: run.folder,
      roles: run.facts.size,
      answered: run.record.outputs.size,
      ended: run.record.ended,
      failures: failuresByCode(run.record),
    })),
  };
}

/** Names a place for messages and tables. */
export function nameOf({ supervisor, seed }: CrossPlace): string {
  if (seed === null) return `${supervisor} with profiles`;
  return supervisor === null ? `${seed} untrained` : `${seed} on data of ${supervisor}`;
}

interface Placed {
  readonly run: WikiRoleRun;
  readonly place: CrossPlace;
  readonly scored: readonly ScoredSample[];
}

function placeOf({ folder, config }: WikiRoleRun): CrossPlace {
  const { withProfile, supervisor = null, seedModel = null } = config;
  const refuse = (what: string): EvalError =>
    new EvalError('usage', `${folder}: ${what}. Tags are set with \`eval run --task wikirole\`.`);
  if (withProfile && supervisor === null)
    throw refuse('a run with profiles measures a supervisor, and --supervisor does not name it');
  if (withProfile && seedModel !== null && seedModel !== supervisor)
    throw refuse('a run with profiles measures its supervisor, but --seed-model names another model');
  if (withProfile) return { supervisor, seed: null };
  if (seedModel === null) throw refuse('--seed-model does not say which model was trained');
  return { supervisor, seed: seedModel };
}

function scoredIn({ facts, scored }: WikiRoleRun, language: 'en' | 'zh' | undefined): readonly ScoredSample[] {
  return scored.filter(({ id }) => language === undefined || facts.get(id)?.language === language);
}

function metricOf(metric: Metric, placed: readonly Placed[]): CrossMetric {
  const cells = placed.map(({ run, place, scored }): CrossCell => {
    const cell = rowOf(scored, { metrics: [metric], averages: [], seed: run.config.seed }).get(metric.key);
    const none = { value: null, low: null, high: null, sem: null, n: 0, of: 0 };
    return { ...place, folder: run.folder, ...(cell ?? none) };
  });
  const raw = placed.flatMap((each) => {
    const { supervisor, seed } = each.place;
    if (supervisor === null || seed === null) return [];
    const others = [
      { minus: 'supervision', name: nameOf({ supervisor, seed: null }) },
      { minus: 'untrained', name: nameOf({ supervisor: null, seed }) },
    ] as const;
    return others.flatMap(({ minus, name }): CrossDifference[] => {
      const other = placed.find(({ place }) => nameOf(place) === name);
      if (other === undefined) return [];
      return [{ supervisor, seed, minus, ...differenceOf(other.scored, each.scored, metric, each.run.config.seed) }];
    });
  });
  const corrected = holm(raw.map(({ p }) => p));
  const differences = raw.map((each, at) => ({ ...each, p: corrected[at] ?? null }));
  const against = differences.filter(({ minus, difference }) => minus === 'supervision' && difference !== null);
  const above = { n: against.filter(({ difference }) => (difference ?? 0) > 0).length, of: against.length };
  return { metric, cells, differences, above };
}
