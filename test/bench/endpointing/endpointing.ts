import { writeFileSync } from 'node:fs';
import { endpointingTimeoutMs, longerPauses } from '../../../voices/turn-detector.ts';
import { probabilityOf } from '../../../voices/turn-detectors/end-of-turn.ts';
import { soundLogit } from '../../../voices/turn-detectors/sound.ts';
import { wordsLogit } from '../../../voices/turn-detectors/words.ts';
import { randomFrom } from '../kit/random.ts';
import { pauseCases, type PauseCase } from './endpointing-cases.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { heldOutRows } from './held-out-lines.ts';
import { calibrationSvg, calibrationText } from './speech/calibration-plot.ts';
import { judged, realSpeechRows } from './speech/real-speech.ts';
import { speechCases } from './speech/speech-cases.ts';
import { readSpeechFolder } from './speech/speech-folder.ts';
import { workRows } from './speech/work-of-a-pause.ts';

const bench = 'endpointing';
const leastMs = 200;
const mostMs = 2_500;
/** Mean delays at which the rate of false cut-offs is reported. */
const budgetsMs = [300, 400, 600, 1_000];
/** Rates of false cut-offs at which the delay is reported. */
const tolerances = [0.08, 0.1];
const resamples = 400;

/** Lengths of pauses inside a turn, as the waits assume them: quantiles from 1 % to 99 %. */
const pauseLengthsMs = Array.from({ length: 99 }, (_, index) => quantileMs((index + 1) / 100));

function quantileMs(share: number): number {
  let lengthMs = 0;
  while (longerPauses(lengthMs) > 1 - share) lengthMs += 1;
  return lengthMs;
}

/** One end or pause, with the end-of-turn probability of each method. */
interface Scored extends PauseCase {
  readonly completeness: Readonly<Record<Method, number>>;
}

const methods = ['words', 'sound', 'both'] as const;
type Method = (typeof methods)[number];

/**
 * Ends and pauses of real speech, if there is a folder of it (`--speech DIR` or `DRAMATIS_SPEECH_DIR`, see
 * `speech/SOURCES.md`), with a plot of the calibration on stderr. `--half tuned`: of the speakers on whom weights were
 * fitted. `--cases FILE`: keeps what was heard for the next run, and for `speech/train.py`. `--every N`: hears one of N
 * turns without pauses, 8 unless given. `--plot FILE`: writes the plot as an SVG file. `--only real`: no more than that. See
 * `realSpeechRows`.
 *
 * Then the words alone on lines of packs, see `held-out-lines.ts`, the work of a pause, and eleven recordings: false
 * cut-offs against added delay. `silence`: a fixed threshold, the baseline. `words`, `sound`, `both`: the built-in
 * turn detector, with the wait of the least expected cost, see `endpointingTimeoutMs`; the cost of a cut-in and the shortest
 * wait are in brackets. Real pauses and gaps between words have the same weight. `median` is the figure over all
 * recordings; p95 and p99 are upper bounds from a bootstrap over recordings. n counts ends, pauses and gaps.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  yield* spokenRows(args);
  if (optionOf(args, 'only') === 'real') return;
  yield* heldOutRows();
  yield* workRows();
  const cases = await pauseCases();
  if (cases.length === 0) return;
  const scored = cases.map((one): Scored => {
    const [words, sound] = [wordsLogit(one.text), soundLogit(one.turn)];
    const completeness = {
      words: probabilityOf({ words }),
      sound: probabilityOf({ sound }),
      both: probabilityOf({ words, sound }),
    };
    return { ...one, completeness };
  });
  const english = scored.filter(({ file }) => !/^(zh|aishell)/.test(file));
  const groups = {
    all: scored,
    English: english,
    'English, real pauses': english.filter(({ kind }) => kind !== 'gap'),
  };
  for (const [group, known] of Object.entries(groups)) {
    for (const method of ['silence', ...methods] as const) yield* rowsOf(known, method, `${group}, ${method}`);
  }
}

async function* spokenRows(args: readonly string[]): AsyncIterable<BenchRow> {
  const directory = optionOf(args, 'speech') ?? process.env['DRAMATIS_SPEECH_DIR'];
  if (directory === undefined) {
    console.error('No folder of real speech: name one with --speech or DRAMATIS_SPEECH_DIR (see speech/SOURCES.md).');
    return;
  }
  const half = optionOf(args, 'half') ?? 'held-out';
  const turns = readSpeechFolder(directory).filter((turn) => turn.half === half);
  const cache = optionOf(args, 'cases');
  const every = Number(optionOf(args, 'every') ?? 8);
  const cases = [];
  for await (const one of speechCases(turns, { every, ...(cache === undefined ? {} : { cache }) }))
    cases.push(judged(one));
  yield* realSpeechRows(cases);
  console.error(calibrationText(cases));
  const plot = optionOf(args, 'plot');
  if (plot !== undefined)
    writeFileSync(plot, calibrationSvg(cases, `Calibration of the turn detector, real speech, ${half}`));
}

function optionOf(args: readonly string[], name: string): string | undefined {
  const place = args.indexOf(`--${name}`);
  return place < 0 ? undefined : args[place + 1];
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
    const { cutInCostMs, leastMs } = best.setting;
    const how = method === 'silence' ? '' : ` [${cutInCostMs}, ${Math.round(leastMs)} ms]`;
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
    const reached = curve.filter(({ cutOff }) => cutOff <= share);
    if (reached.length === 0) continue;
    const best = leastOf(reached, ({ delayMs }) => delayMs);
    yield row(`cut off ≤ ${share * 100} %`, 'ms delay', best, ({ delayMs }) => delayMs);
  }
}

interface Point {
  readonly delayMs: number;
  /** Share of pauses in which the turn was ended, 0 to 1. */
  readonly cutOff: number;
}

interface Setting {
  readonly cutInCostMs: number;
  readonly leastMs: number;
}

/** Candidate settings. Silence has one parameter, the other methods have two. */
function settingsOf(method: Method | 'silence'): Setting[] {
  const steps = (count: number): number[] => Array.from({ length: count }, (_, index) => index / (count - 1));
  if (method === 'silence')
    return steps(93).map((step) => ({ cutInCostMs: 0, leastMs: leastMs + (mostMs - leastMs) * step }));
  return [0, 100, 200, 400].flatMap((more) =>
    steps(40).map((step) => ({ cutInCostMs: Math.round(100 * 200 ** step), leastMs: leastMs + more })),
  );
}

function pointOf(cases: readonly Scored[], method: Method | 'silence', { cutInCostMs, leastMs }: Setting): Point {
  const waitOf = ({ completeness }: Scored): number =>
    method === 'silence' ? leastMs : endpointingTimeoutMs(completeness[method], { leastMs, mostMs, cutInCostMs });
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
