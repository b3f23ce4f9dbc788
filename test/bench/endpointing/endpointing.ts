import { probabilityOf, textLogit } from '../../../voices/turn-detectors/completeness.ts';
import { endpointingTimeoutMs } from '../../../voices/turn-detector.ts';
import { openProsody } from '../../../voices/turn-detectors/prosody.ts';
import { randomFrom } from '../kit/random.ts';
import { pauseCases, type PauseCase } from './endpointing-cases.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'endpointing';
const leastMs = 200;
const mostMs = 2_500;
/** Mean delays at which the rate of false cut-offs is reported. */
const budgetsMs = [300, 400, 600, 1_000];
/** Rates of false cut-offs at which the delay is reported. */
const tolerances = [0.05, 0.1];
const resamples = 400;

/**
 * Distribution of pauses inside a turn: log-logistic, with a median of 450 ms (that of the 13 real ones here) and 1.4 s
 * at 95 % (two-channel telephone speech, livekit/agents #3640). Quantiles from 1 % to 99 %.
 */
const medianPauseMs = 450;
const steepness = Math.log(19) / Math.log(1_400 / medianPauseMs);
const pauseLengthsMs = Array.from({ length: 99 }, (_, index) => {
  const share = (index + 1) / 100;
  return medianPauseMs * (share / (1 - share)) ** (1 / steepness);
});

/** One end or pause, with the end-of-turn probability of each method. */
interface Scored extends PauseCase {
  readonly completeness: Readonly<Record<Method, number>>;
}

const methods = ['text', 'voice', 'both'] as const;
type Method = (typeof methods)[number];
const labels = { silence: 'silence', text: 'text', voice: 'voice (in sample)', both: 'both (in sample)' } as const;

/**
 * False cut-offs against added delay. `silence`: a fixed threshold, the baseline. `text`, `voice`, `both`: the built-in
 * turn detector by the words, by the prosody, and by both: a turn that seems complete ends after 200 ms or somewhat
 * more, others after up to 2.5 s, see `endpointingTimeoutMs`; the threshold and the shortest wait are in brackets. The
 * text weights use no recording, but the prosody weights were fitted on these recordings, so `voice` and `both` are
 * optimistic: MEASURED.md has the figures with prosody weights fitted on the other recordings. Real pauses and gaps
 * between words have the same weight. `median` is the figure over all recordings; p95 and p99 are upper bounds from a
 * bootstrap over recordings. n counts ends, pauses and gaps.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const cases = await pauseCases();
  if (cases.length === 0) return;
  const detector = openProsody();
  const { signal } = new AbortController();
  const scored = await Promise.all(
    cases.map(async (one): Promise<Scored> => {
      const voice = await detector.endOfTurnProbability(one.turn, { signal });
      const both = await detector.endOfTurnProbability(one.turn, { signal, text: one.text });
      return { ...one, completeness: { text: probabilityOf(textLogit(one.text)), voice, both } };
    }),
  );
  const english = scored.filter(({ file }) => !/^(zh|aishell)/.test(file));
  const groups = {
    all: scored,
    English: english,
    'English, real pauses': english.filter(({ kind }) => kind !== 'gap'),
  };
  for (const [group, known] of Object.entries(groups)) {
    for (const method of ['silence', ...methods] as const) yield* rowsOf(known, method, `${group}, ${labels[method]}`);
  }
}

/**
 * Each figure is for one setting, the best over all recordings; the spread is that setting's over the bootstrap draws.
 */
function* rowsOf(cases: readonly Scored[], method: Method | 'silence', name: string): Iterable<BenchRow> {
  const curve = settingsOf(method).map((setting) => ({ setting, ...pointOf(cases, method, setting) }));
  const draws = drawFiles(cases);
  const row = (
    goal: string,
    unit: string,
    best: Point & { readonly setting: Setting },
    measure: (point: Point) => number,
  ): BenchRow => {
    const { threshold, leastMs } = best.setting;
    const how = method === 'silence' ? '' : ` [${threshold.toFixed(2)}, ${Math.round(leastMs)} ms]`;
    const values = draws.map((draw) => measure(pointOf(draw, method, best.setting)));
    const spread = summarize(bench, `${name}, ${goal}${how}`, unit, values);
    return { ...spread, n: cases.length, median: Math.round(measure(best) * 10) / 10 };
  };
  for (const budgetMs of budgetsMs) {
    const best = leastOf(
      curve.filter(({ delayMs }) => delayMs <= budgetMs),
      ({ cutOff }) => cutOff,
    );
    yield row(`delay ≤ ${budgetMs} ms`, '% cut off', best, ({ cutOff }) => 100 * cutOff);
  }
  for (const share of tolerances) {
    const best = leastOf(
      curve.filter(({ cutOff }) => cutOff <= share),
      ({ delayMs }) => delayMs,
    );
    yield row(`cut off ≤ ${share * 100} %`, 'ms delay', best, ({ delayMs }) => delayMs);
  }
}

interface Point {
  readonly delayMs: number;
  /** Share of pauses in which the turn was ended, 0 to 1. */
  readonly cutOff: number;
}

interface Setting {
  readonly threshold: number;
  readonly leastMs: number;
}

/** Candidate settings. Silence has one parameter, the other methods have two. */
function settingsOf(method: Method | 'silence'): Setting[] {
  const steps = (count: number): number[] => Array.from({ length: count }, (_, index) => index / (count - 1));
  if (method === 'silence')
    return steps(93).map((step) => ({ threshold: 1, leastMs: leastMs + (mostMs - leastMs) * step }));
  return [0, 100, 200, 400, 600, 800, 1_000, 1_400].flatMap((more) =>
    steps(40).map((step) => ({ threshold: probabilityOf(-4 + 8 * step), leastMs: leastMs + more })),
  );
}

function pointOf(cases: readonly Scored[], method: Method | 'silence', { threshold, leastMs }: Setting): Point {
  const waitOf = ({ completeness }: Scored): number =>
    method === 'silence' ? leastMs : endpointingTimeoutMs(completeness[method], { leastMs, mostMs, threshold });
  const cut = (one: Scored): number => {
    const waitMs = waitOf(one);
    return pauseLengthsMs.filter((lengthMs) => lengthMs > waitMs).length / pauseLengthsMs.length;
  };
  const mean = (kind: PauseCase['kind'], value: (one: Scored) => number): number => {
    const all = cases.filter((one) => one.kind === kind);
    return all.reduce((sum, one) => sum + value(one), 0) / all.length;
  };
  const kinds = (['pause', 'gap'] as const).filter((kind) => cases.some((one) => one.kind === kind));
  const cutOff = kinds.reduce((sum, kind) => sum + mean(kind, cut), 0) / kinds.length;
  return { delayMs: mean('end', waitOf), cutOff };
}

function leastOf<P>(points: readonly P[], value: (point: P) => number): P {
  return points.reduce((best, point) => (value(point) < value(best) ? point : best));
}

/** Bootstrap draws: as many recordings, with replacement. Each draw has every kind of case. */
function drawFiles(cases: readonly Scored[]): (readonly Scored[])[] {
  const random = randomFrom(5);
  const files = [...new Set(cases.map(({ file }) => file))];
  return Array.from({ length: resamples }, () =>
    files.flatMap(() => {
      const drawn = files[Math.floor(random() * files.length)];
      return cases.filter(({ file }) => file === drawn);
    }),
  ).filter((draw) => kindsIn(draw) === kindsIn(cases));
}

function kindsIn(cases: readonly Scored[]): number {
  return new Set(cases.map(({ kind }) => kind)).size;
}
