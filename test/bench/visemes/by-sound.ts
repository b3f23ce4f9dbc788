import { visemes, type MouthMovement, type Viseme } from '../../../voices/synthesizer.ts';
import { frameMs } from '../../../voices/visemes/mel-frames.ts';
import { openings, VisemesBySound } from '../../../voices/visemes/visemes-by-sound.ts';
import { shapeAt, type VoicedLine } from './voiced-lines.ts';

/** Shapes that look alike: the network is judged by these. */
const classes: readonly (readonly Viseme[])[] = [
  ['sil'],
  ['PP'],
  ['FF'],
  ['TH', 'DD', 'kk', 'SS', 'nn'],
  ['CH', 'RR', 'oh', 'ou'],
  ['aa'],
  ['E', 'ih'],
];
const classOf = (viseme: Viseme): number => classes.findIndex((members) => members.includes(viseme));

/** What a client would be told of lines, against what their engine told. */
export interface SoundFigures {
  /** Share of frames whose shape is of the right class of seven. */
  readonly classes: number;
  /** Correlation of the opening of the jaw. */
  readonly jaw: number;
  readonly frames: number;
}

/** Hears lines in chunks of 60 ms, as they are played, and compares frame by frame. */
export function hearLines(lines: readonly VoicedLine[]): SoundFigures {
  const pairs: [told: number, right: number][] = [];
  let right = 0;
  for (const line of lines) {
    const told = movementOf(line);
    const count = Math.floor((line.samples.length / line.sampleRate) * (1000 / frameMs));
    for (let index = 0; index < count; index += 1) {
      const ms = (index + 0.5) * frameMs;
      const shape = told.visemes.findLast(({ startMs }) => startMs <= ms);
      const [is, should] = [shape?.viseme ?? 'sil', shapeAt(line.mouth, ms)];
      if (classOf(is) === classOf(should)) right += 1;
      pairs.push([(shape?.weight ?? 1) * openingOf(is), openingOf(should)]);
    }
  }
  return { classes: right / pairs.length, jaw: correlation(pairs), frames: pairs.length };
}

function openingOf(viseme: Viseme): number {
  return openings[visemes.indexOf(viseme)] ?? 0;
}

function movementOf({ samples, sampleRate }: VoicedLine): Pick<MouthMovement, 'visemes'> {
  const hearing = new VisemesBySound(sampleRate);
  const size = Math.round(0.06 * sampleRate);
  const found = Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => {
    const chunk = samples.subarray(index * size, (index + 1) * size);
    const startMs = ((index * size) / sampleRate) * 1000;
    const { visemes: shapes } = hearing.take({ samples: chunk, sampleRate });
    return shapes.map((shape) => ({ ...shape, startMs: shape.startMs + startMs }));
  });
  return { visemes: found.flat() };
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const average = (of: (pair: readonly [number, number]) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const [left, right] = [average(([one]) => one), average(([, other]) => other)];
  const both = average(([one, other]) => (one - left) * (other - right));
  return both / Math.sqrt(average(([one]) => (one - left) ** 2) * average(([, other]) => (other - right) ** 2));
}
