import { seededRandom } from '../../statistics.ts';
import { speakersOf } from './book-file.ts';
import { environment, type Plot } from './plots.ts';
import type { CoserBook } from './profiles.ts';
import { mean } from '../../../voices/dsp/statistics.ts';

/** 32-bit hash of a file name: h = 31 h + code point. */
export function bookHash(fileName: string): number {
  let value = 0;
  for (const letter of fileName) value = (Math.imul(value, 31) + (letter.codePointAt(0) as number)) >>> 0;
  return value;
}

/** Books in domain: the first nine tenths by the hash of their file name; the others are out of domain. */
export function domainsOf(books: readonly string[]): ReadonlyMap<string, 'id' | 'ood'> {
  const ordered = books.toSorted((left, right) => bookHash(`${left}.json`) - bookHash(`${right}.json`));
  const inDomain = Math.floor(ordered.length * 0.9);
  return new Map(ordered.map((book, index) => [book, index < inDomain ? 'id' : 'ood']));
}

/** Weight of a character: the root of the number of its plots, at least 1. */
export function characterWeight(plots: number): number {
  return Math.max(1, Math.sqrt(plots));
}

/** Weight of a conversation: the mean of its speakers' without the environment; 1 if there is none. */
export function conversationWeight(speakers: readonly string[], plotsOf: (name: string) => number | undefined): number {
  const weights = speakers.filter((name) => name !== environment).map((name) => characterWeight(plotsOf(name) ?? 1));
  return weights.length === 0 ? 1 : mean(weights);
}

/** Draws without repetition in proportion to weights, from the better half or the best `count` if that is more. */
export function weightedDraw<Item extends { readonly weight: number }>(
  items: readonly Item[],
  count: number,
  seed: number,
): readonly Item[] {
  const random = seededRandom(seed);
  const best = items.toSorted((left, right) => right.weight - left.weight);
  const pool = best.slice(0, Math.max(count, Math.ceil(best.length / 2)));
  const drawn: Item[] = [];
  while (drawn.length < count && pool.length > 0) {
    let left = random() * pool.reduce((sum, { weight }) => sum + weight, 0);
    let index = 0;
    while (index < pool.length - 1 && left >= (pool[index]?.weight ?? 0)) {
      left -= pool[index]?.weight ?? 0;
      index += 1;
    }
    drawn.push(...pool.splice(index, 1));
  }
  return drawn;
}

/** The conversations of a plot that is held out, in the form of CoSER's test set; none of another plot. */
export function circumstancesOf(
  book: CoserBook,
  plot: Plot,
  i_p: number,
): readonly (object & { readonly weight: number; readonly book: string })[] {
  if (i_p < book.splitPlotIndex) return [];
  const plotsOf = (name: string): number | undefined =>
    Object.hasOwn(book.plotsOf, name) ? book.plotsOf[name] : undefined;
  return plot.conversation.map((talk, i_c) => {
    const speakers = speakersOf(talk).map(([name]) => name);
    const { text, summary, prominence, key_characters, chapter, state, chunk: i_chunk } = plot;
    const major = talk.key_characters.map(({ name }) => name);
    return {
      ...talk,
      speaking_characters_w_env: speakers.includes(environment) ? speakers : [...speakers, environment],
      major_characters: major,
      weight: conversationWeight(speakers, plotsOf),
      plot: { text, summary, prominence, key_characters, chapter, state, i_chunk, i_p },
      character_profiles: Object.fromEntries(major.map((name) => [name, book.profiles[name] ?? ''])),
      book: book.book,
      i_p,
      i_c,
    };
  });
}
