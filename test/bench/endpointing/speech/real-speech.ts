import { endpointingTimeoutMs, type EndpointingTimeouts } from '../../../../voices/turn-detector.ts';
import { probabilityOf } from '../../../../voices/turn-detectors/end-of-turn.ts';
import { logitOf } from '../../../../voices/turn-detectors/sound.ts';
import { wordsLogit } from '../../../../voices/turn-detectors/words.ts';
import { defaultTurnDetection } from '../../../../server/session/contract/settings.ts';
import { randomFrom } from '../../kit/random.ts';
import type { BenchRow } from '../../kit/stats.ts';
import type { SpeechCase } from './speech-cases.ts';
import { mean } from '../../../../voices/dsp/statistics.ts';

const bench = 'endpointing';
const resamples = 400;
/** Mean wait at ends at which methods are compared. */
const comparedMs = 400;
/** Pauses that people notice: being cut into in one of them is a cut-in. */
const noticedMs = 300;

const methods = ['silence', 'words', 'sound', 'both'] as const;
type Method = (typeof methods)[number];

export interface Judged extends Omit<SpeechCase, 'frames'> {
  readonly completeness: Readonly<Record<Exclude<Method, 'silence'>, number>>;
}

/** Judges a case by each method; the probability is the built-in detector's. */
export function judged({ frames, ...one }: SpeechCase): Judged {
  const [words, sound] = [wordsLogit(one.text), logitOf(frames)];
  return {
    ...one,
    completeness: {
      words: probabilityOf({ words }),
      sound: probabilityOf({ sound }),
      both: probabilityOf({ words, sound }),
    },
  };
}

/**
 * Real speech of speakers on whom nothing was tuned (`--half tuned`: of the others). `median` is the figure over all
 * cases; p95 and p99 are upper bounds from a bootstrap over speakers; n counts ends and pauses. First, cut-ins in pauses of at
 * least 200 ms where each method waits 400 ms on average at ends; then cut-ins in pauses of at least 300 ms and waits at
 * ends of a character of medium patience; then how often those judged about so probable were ends, where ends and pauses
 * weigh the same.
 */
export function* realSpeechRows(cases: readonly Judged[]): Iterable<BenchRow> {
  const sources = [...new Set(cases.map(sourceOf))];
  const groups: [string, readonly Judged[]][] = [['all', cases]];
  if (sources.length > 1)
    groups.push(...sources.map((name): [string, Judged[]] => [name, cases.filter((one) => sourceOf(one) === name)]));
  for (const [group, some] of groups) {
    if (endsOf(some).length > 0 && pausesOf(some, 0).length > 0) yield* groupRows(`real speech, ${group}`, some);
  }
}

/** Sets of one source are one group: `test-libri-excerpts` has pauses only, `test-libri-sentences` ends as well. */
function sourceOf({ set }: Judged): string {
  return set.split('-').slice(0, 2).join('-');
}

function* groupRows(name: string, cases: readonly Judged[]): Iterable<BenchRow> {
  const row = rowMaker(name, cases);
  for (const method of methods) {
    const waitOf = comparedWait(cases, method);
    yield row(`${method} at a mean wait of ${comparedMs} ms: cut-ins`, '%', (some) => cutIns(some, waitOf, 0));
  }
  const { patience } = defaultTurnDetection({ patience: 0.5, interruptibility: 0.5, backchannels: 0 });
  if (patience === undefined) return;
  for (const method of ['words', 'sound', 'both'] as const) {
    const waitOf = waitBy(method, patience);
    yield row(`${method}: cut-ins in pauses ≥ ${noticedMs} ms`, '%', (some) => cutIns(some, waitOf, noticedMs));
    for (const [share, title] of [
      [0.5, 'median'],
      [0.9, 'p90'],
      [0.95, 'p95'],
    ] as const) {
      yield row(`${method}: wait at ends, ${title}`, 'ms', (some) => quantile(endsOf(some).map(waitOf), share));
    }
    yield row(`${method}: area under the curve`, '%', (some) => 100 * area(some, method));
  }
  for (let from = 0; from < 100; from += 20) {
    const inside = (one: Judged): boolean => Math.min(4, Math.floor(one.completeness.both * 5)) === from / 20;
    if (!cases.some(inside)) continue;
    yield row(`both: judged ${from}–${from + 20} %`, '% ends', (some) => {
      const weight = pausesOf(some, 0).length / Math.max(1, endsOf(some).length);
      const ends = weight * endsOf(some).filter(inside).length;
      return (100 * ends) / Math.max(1e-9, ends + pausesOf(some, 0).filter(inside).length);
    });
  }
}

type Wait = (one: Judged) => number;

function waitBy(method: Exclude<Method, 'silence'>, timeouts: EndpointingTimeouts): Wait {
  return ({ completeness }) => endpointingTimeoutMs(completeness[method], timeouts);
}

/** Of all settings with that mean wait at ends or a shorter one, the one with the fewest cut-ins. */
function comparedWait(cases: readonly Judged[], method: Method): Wait {
  if (method === 'silence') return () => comparedMs;
  let best: { readonly waitOf: Wait; readonly cut: number } = { waitOf: () => comparedMs, cut: Infinity };
  for (const leastMs of [200, 250, 300, 350]) {
    for (let cutInCostMs = 200; cutInCostMs < 40_000; cutInCostMs *= 1.15) {
      const waitOf = waitBy(method, { leastMs, mostMs: 2_500, cutInCostMs });
      const meanMs = mean(endsOf(cases).map(waitOf));
      const cut = meanMs <= comparedMs ? cutIns(cases, waitOf, 0) : Infinity;
      if (cut < best.cut) best = { waitOf, cut };
    }
  }
  return best.waitOf;
}

/** Ends of an unbiased sample of turns. */
export function endsOf(cases: readonly Judged[]): Judged[] {
  return cases.filter(({ kind, sampled }) => kind === 'end' && sampled);
}

export function pausesOf(cases: readonly Judged[], leastMs: number): Judged[] {
  return cases.filter(({ kind, silentMs = 0 }) => kind === 'pause' && silentMs >= leastMs);
}

/** Percentage of the pauses in which the turn was ended before the speaker went on. */
function cutIns(cases: readonly Judged[], waitOf: Wait, leastMs: number): number {
  const pauses = pausesOf(cases, leastMs);
  return (100 * pauses.filter((one) => waitOf(one) < (one.silentMs ?? 0)).length) / pauses.length;
}

function area(cases: readonly Judged[], method: Exclude<Method, 'silence'>): number {
  const pauses = pausesOf(cases, 0)
    .map(({ completeness }) => completeness[method])
    .toSorted((a, b) => a - b);
  const below = (value: number, strictly: boolean): number => {
    let [low, high] = [0, pauses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const here = pauses[middle] as number;
      if (strictly ? here < value : here <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return mean(
    endsOf(cases).map(
      ({ completeness: { [method]: value } }) => (below(value, true) + below(value, false)) / 2 / pauses.length,
    ),
  );
}

/** A figure over all cases; its p95 and p99 from draws of as many speakers, with replacement. */
function rowMaker(name: string, cases: readonly Judged[]) {
  const draws = drawSpeakers(cases);
  const n = endsOf(cases).length + pausesOf(cases, 0).length;
  const round = (value: number): number => Math.round(value * 10) / 10;
  return (goal: string, unit: string, measure: (some: readonly Judged[]) => number): BenchRow => {
    const values = draws.map(measure).filter((value) => Number.isFinite(value));
    const [p95, p99] = [round(quantile(values, 0.95)), round(quantile(values, 0.99))];
    return { bench, metric: `${name}, ${goal}`, unit, n, median: round(measure(cases)), p95, p99 };
  };
}

/** Bootstrap draws: as many speakers, with replacement. */
export function drawSpeakers(cases: readonly Judged[]): Judged[][] {
  const random = randomFrom(5);
  const bySpeaker = new Map<string, Judged[]>();
  for (const one of cases) {
    const key = `${one.set} ${one.speaker}`;
    const list = bySpeaker.get(key) ?? [];
    list.push(one);
    bySpeaker.set(key, list);
  }
  const speakers = [...bySpeaker.values()];
  return Array.from({ length: resamples }, () =>
    speakers.flatMap(() => speakers[Math.floor(random() * speakers.length)] as Judged[]),
  );
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
