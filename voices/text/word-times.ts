import { endsWithAbbreviation } from './phrases.ts';
import type { TimedPhone, TimedWord } from '../synthesizer.ts';

/** Part of a clip, in milliseconds from its start. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Known timing of a clip. */
export interface TimingHints {
  /** The word at `index` of the text (UTF-16 units) starts at `atMs`. Ascending. */
  readonly marks?: readonly { readonly index: number; readonly atMs: number }[];
  /** Silences inside the speech, ascending; if they match the punctuation, words keep to their side of each. */
  readonly pauses?: readonly Span[];
  /** All sounds in order, pauses too; each ends where the next begins. Words do not use them. */
  readonly phones?: readonly TimedPhone[];
}

/**
 * Times of each word of `text`, given that the speech fills `speech`. Exact at marks; elsewhere estimated from
 * syllables and punctuation. A word is the text between spaces, or one Chinese or Japanese character, including
 * adjacent punctuation; words come in order, do not overlap and lie within `speech`.
 */
export function wordTimes(text: string, speech: Span, hints: TimingHints = {}): TimedWord[] {
  const words = wordsOf(text);
  if (hints.marks !== undefined && hints.marks.length > 0) return timesFromMarks(words, speech, hints.marks);
  const groups = groupsBetweenBreaks(words);
  const pauses = hints.pauses ?? [];
  if (pauses.length > 0 && pauses.length === groups.length - 1) return timesFromPauses(groups, speech, pauses);
  return spread(words, speech, true);
}

interface Word {
  readonly text: string;
  /** Index of the first letter or digit in the whole text, in UTF-16 units. */
  readonly index: number;
  /** Estimated length in syllables. */
  readonly syllables: number;
  /** Estimated pause after the word, in syllables. */
  readonly rest: number;
}

const cjk = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]';
const alphabetic = `(?:(?!${cjk})[\\p{L}\\p{N}\\p{M}])+`;
/** Leading punctuation, one CJK character or an alphabetic word (apostrophes, periods, hyphens), then trailing one. */
const wordPattern = new RegExp(
  `[^\\s\\p{L}\\p{N}]*(${cjk}|${alphabetic}(?:[^\\s\\p{L}\\p{N}—–…]+${alphabetic})*)[^\\s\\p{L}\\p{N}“‘「『（《(\\[]*`,
  'gu',
);
const commaSyllables = 1.2;
const stopSyllables = 2.2;

function wordsOf(text: string): Word[] {
  const matches = [...text.matchAll(wordPattern)];
  return matches.map((match, place) => {
    const spoken = match[1] ?? '';
    const index = match.index + match[0].indexOf(spoken);
    const next = matches[place + 1];
    const between =
      next === undefined ? '' : text.slice(index + spoken.length, next.index + next[0].indexOf(next[1] ?? ''));
    const abbreviated = endsWithAbbreviation(text.slice(0, match.index + match[0].length), next?.[1]?.charAt(0) ?? '');
    return { text: match[0], index, syllables: syllables(spoken), rest: abbreviated ? 0 : restOf(between) };
  });
}

/** Pause that punctuation implies, in syllables; without a gap only Chinese marks and dashes count. */
function restOf(between: string): number {
  if (/[.!?…](?=["'”’»)\]]*\s)|[。！？]|……|\n/u.test(between)) return stopSyllables;
  return /[,;:](?=["'”’»)\]]*\s)|[，；：、—–]|\s-\s/u.test(between) ? commaSyllables : 0;
}

/** Estimated syllables: English vowels, letters of an acronym, digits as spoken; one for a CJK character. */
function syllables(word: string): number {
  const digits = word.match(/\p{N}/gu)?.length ?? 0;
  const letters = word.replaceAll(/[^\p{L}\p{M}]/gu, '');
  if (letters === '') return Math.max(1, digits * 1.3);
  if (letters.length > 1 && letters.length < 6 && letters === letters.toUpperCase() && /^[A-Z]+$/.test(letters)) {
    return letters.length + digits * 1.3;
  }
  const plain = letters.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const vowels =
    plain.replace(/(?<=[^aeiouy].*)(?<![lr])e[ds]?$/u, '').match(/[aeiouyаеёиоуыэюяαεηιουω]+/gu)?.length ?? 0;
  return Math.max(1, vowels) * 0.7 + plain.length * 0.1 + digits * 1.3;
}

function groupsBetweenBreaks(words: readonly Word[]): Word[][] {
  const groups: Word[][] = [[]];
  for (const [index, word] of words.entries()) {
    groups.at(-1)?.push(word);
    if (word.rest > 0 && index < words.length - 1) groups.push([]);
  }
  return groups;
}

function timesFromPauses(groups: readonly Word[][], speech: Span, pauses: readonly Span[]): TimedWord[] {
  return groups.flatMap((group, index) => {
    const startMs = pauses[index - 1]?.endMs ?? speech.startMs;
    const endMs = pauses[index]?.startMs ?? speech.endMs;
    return spread(group, { startMs, endMs: Math.max(startMs, endMs) }, false);
  });
}

/** Distributes the span by syllables; `breaks` says whether punctuation takes time in it. */
function spread(words: readonly Word[], span: Span, breaks: boolean): TimedWord[] {
  const rests = words.map((word, index) => (breaks && index < words.length - 1 ? word.rest : 0));
  const total = words.reduce((sum, word, index) => sum + word.syllables + (rests[index] ?? 0), 0);
  const msPerSyllable = total === 0 ? 0 : (span.endMs - span.startMs) / total;
  let atMs = span.startMs;
  return words.map((word, index) => {
    const startMs = atMs;
    const endMs = Math.min(span.endMs, startMs + word.syllables * msPerSyllable);
    atMs = Math.min(span.endMs, endMs + (rests[index] ?? 0) * msPerSyllable);
    return { text: word.text, startMs, endMs };
  });
}

/** Words from one marked word to the next share the time between the two marks. */
function timesFromMarks(
  words: readonly Word[],
  speech: Span,
  marks: readonly { readonly index: number; readonly atMs: number }[],
): TimedWord[] {
  const runs: { startMs: number; words: Word[] }[] = [{ startMs: speech.startMs, words: [] }];
  let next = 0;
  for (const word of words) {
    const end = word.index + word.text.length;
    while (next < marks.length && (marks[next]?.index ?? 0) < word.index) next += 1;
    const mark = marks[next];
    const latestMs = runs.at(-1)?.startMs ?? speech.startMs;
    if (mark !== undefined && mark.index < end && mark.atMs >= latestMs && mark.atMs <= speech.endMs) {
      if (runs.at(-1)?.words.length === 0) runs.pop();
      runs.push({ startMs: mark.atMs, words: [] });
    }
    runs.at(-1)?.words.push(word);
  }
  return runs.flatMap((run, index) => {
    const endMs = runs[index + 1]?.startMs ?? speech.endMs;
    return spread(run.words, { startMs: run.startMs, endMs }, true);
  });
}
