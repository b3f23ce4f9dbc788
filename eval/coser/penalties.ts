import { z } from 'zod';
import { jsonInReply } from '../construction/json/json-in-reply.ts';
import type { CoserConfig } from './config.ts';

/** Dimensions by which a scene is judged, as keys of scores, file names and names in the judge's reply. */
export const dimensions = [
  { key: 'storyline-consistency', name: 'Storyline Consistency' },
  { key: 'anthropomorphism', name: 'Anthropomorphism' },
  { key: 'character-fidelity', name: 'Character Fidelity' },
  { key: 'storyline-quality', name: 'Storyline Quality' },
] as const;

export type Dimension = (typeof dimensions)[number];

/** Flaws that the judge found in one dimension. */
export interface Penalties {
  readonly severities: readonly number[];
  /** Severities outside the scale, set to its end. */
  readonly clamped: number;
}

const flaw = z.looseObject({ type: z.unknown().optional(), severity: z.unknown().optional() });
const verdict = z.looseObject({ flaws: z.array(flaw) });

/**
 * Reads the flaws in a judge's reply; null if it has none that can be read. `strict` counts as the released code does:
 * whole numbers of any size, no texts. `tolerant` also reads numbers in texts and halves, and keeps them on the scale.
 */
export function penaltiesIn(text: string, { name }: Dimension, parser: CoserConfig['parser']): Penalties | null {
  const found = jsonInReply(text);
  if (found.kind !== 'whole') return null;
  const read = verdict.safeParse(verdictIn(found.value, name, parser));
  if (!read.success) return null;
  const { flaws } = read.data;
  if (parser === 'strict') {
    const all = flaws.map(({ severity }) => severity ?? 1);
    return { severities: all.filter((each): each is number => Number.isInteger(each)), clamped: 0 };
  }
  const severities = flaws.map(({ severity, type }) => ({ given: numberIn(severity ?? 1), most: mostFor(type) }));
  if (severities.some(({ given }) => given === null)) return null;
  const kept = severities.map(({ given, most }) => Math.min(most, Math.max(1, given ?? 1)));
  return { severities: kept, clamped: kept.filter((each, at) => each !== severities[at]?.given).length };
}

function verdictIn(value: unknown, name: string, parser: CoserConfig['parser']): unknown {
  const record = z.record(z.string(), z.unknown()).safeParse(value);
  if (!record.success) return undefined;
  const isWhole = Object.keys(record.data).every((key) => dimensions.some((each) => each.name === key));
  if (parser === 'strict') return isWhole ? record.data[name] : undefined;
  const plain = (key: string): string => key.toLowerCase().replaceAll(/[^a-z]/g, '');
  const entry = Object.entries(record.data).find(([key]) => plain(key) === plain(name));
  return entry?.[1] ?? record.data;
}

function numberIn(severity: unknown): number | null {
  if (typeof severity === 'number') return Number.isFinite(severity) ? severity : null;
  const digits = typeof severity === 'string' ? /^\s*(\d+(?:\.\d+)?)\s*(?:\/\s*5)?\s*$/.exec(severity)?.[1] : undefined;
  return digits === undefined ? null : Number(digits);
}

/** Repetition alone may weigh more than the scale. */
function mostFor(type: unknown): number {
  return typeof type === 'string' && /repeti|repeat/i.test(type) ? 10 : 5;
}

/** Score of a dimension; `rounds` are the messages of characters, since longer scenes have more flaws. */
export function penaltyScore(
  severities: readonly number[],
  rounds: number,
  formula: CoserConfig['lengthCorrection'],
): number {
  const sum = severities.reduce((total, severity) => total + severity, 0);
  if (formula === 'paper') return 100 - sum + 1.5 * rounds;
  return Math.max(0, Math.min(100, 100 - (sum - 0.3 * rounds) * 5));
}
