import { readFileSync } from 'node:fs';
import path from 'node:path';
import { endpointingTimeoutMs, longerPauses } from '../../../voices/turn-detector.ts';
import { defaultTurnDetection } from '../../../server/session/contract/settings.ts';
import { wordsLogit } from '../../../voices/turn-detectors/words.ts';
import { randomFrom } from '../kit/random.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

/** Packs whose lines the words were not learned from; see `words/corpus.py`. */
const heldOut = ['captain-nemo', 'sherlock-holmes'];

/** How often people pause after a word inside a sentence, after a comma, after a sentence; as in `words/train.py`. */
const pauses = { word: 0.05, comma: 0.5, sentence: 0.4 };

interface Moment {
  readonly ends: boolean;
  readonly probability: number;
  readonly tookMs: number;
}

const bench = 'endpointing';
const resamples = 400;

/**
 * The words alone on lines they were not learned from, without marks: each line ends once, and pauses are drawn inside
 * it. The calibration rows say which share were ends among those judged about so probable. Waits are those of a
 * character of medium patience; cut-ins and mean waits of a fixed silence are beside them.
 */
export function* heldOutRows(): Iterable<BenchRow> {
  const moments = heldOut.flatMap((pack) => [...momentsOf(pack)]);
  for (let tenth = 0; tenth < 10; tenth += 2) {
    const inside = moments.filter(({ probability }) => Math.floor(probability * 5) === tenth / 2);
    if (inside.length > 0)
      yield spread(`calibration, judged ${tenth * 10}–${tenth * 10 + 20} %`, '% ends', inside, share);
  }
  const { patience } = defaultTurnDetection({ patience: 0.5, interruptibility: 0.5, backchannels: 0 });
  if (patience === undefined) return;
  const waitOf = ({ probability }: Moment): number => endpointingTimeoutMs(probability, patience);
  yield spread('cut-ins in pauses', '%', moments, (all) => cutIns(all, waitOf));
  const ends = moments.filter((one) => one.ends);
  yield summarize(bench, 'held-out lines: wait at the end', 'ms', ends.map(waitOf));
  const meanMs = ends.reduce((sum, one) => sum + waitOf(one), 0) / ends.length;
  yield spread(`cut-ins of a fixed silence of ${Math.round(meanMs)} ms`, '%', moments, (all) =>
    cutIns(all, () => meanMs),
  );
  yield summarize(
    bench,
    'held-out lines: one query',
    'ms',
    moments.slice(50).map(({ tookMs }) => tookMs),
  );
}

function* momentsOf(pack: string): Iterable<Moment> {
  const file = path.join(import.meta.dirname, '../../../characters', pack, 'lines.jsonl');
  const random = randomFrom(3);
  for (const row of readFileSync(file, 'utf8').trim().split('\n')) {
    const { asks = [], reply = '' } = JSON.parse(row) as { asks?: string[]; reply?: string };
    for (const text of [...asks, reply]) {
      const words = text.split(/\s+/u);
      for (const [index, word] of words.entries()) {
        const ends = index === words.length - 1;
        const odds = /[.!?]$/u.test(word) ? pauses.sentence : /[,;:—]$/u.test(word) ? pauses.comma : pauses.word;
        if (ends || random() < odds) yield judged(words.slice(0, index + 1).join(' '), ends);
      }
    }
  }
}

function judged(said: string, ends: boolean): Moment {
  const text = said.toLowerCase().replaceAll(/[^\p{L}\p{N}'’ ]/gu, ' ');
  const startMs = performance.now();
  const probability = 1 / (1 + Math.exp(-wordsLogit(text)));
  return { ends, probability, tookMs: performance.now() - startMs };
}

function share(moments: readonly Moment[]): number {
  return (100 * moments.filter(({ ends }) => ends).length) / moments.length;
}

/** Share of the pauses, of the lengths that waits assume and at least 300 ms, in which the turn was ended. */
function cutIns(moments: readonly Moment[], waitOf: (one: Moment) => number): number {
  const inside = moments.filter(({ ends }) => !ends);
  const cut = (one: Moment): number => Math.min(1, longerPauses(waitOf(one)) / longerPauses(300));
  return (100 * inside.reduce((sum, one) => sum + cut(one), 0)) / inside.length;
}

/** One figure over all moments; p95 and p99 from a bootstrap over them. */
function spread(name: string, unit: string, all: readonly Moment[], of: (some: readonly Moment[]) => number): BenchRow {
  const random = randomFrom(5);
  const draws = Array.from({ length: resamples }, () =>
    of(all.map(() => all[Math.floor(random() * all.length)] as Moment)),
  );
  const row = summarize(bench, `held-out lines: ${name}`, unit, draws);
  return { ...row, n: all.length, median: Math.round(of(all) * 10) / 10 };
}
