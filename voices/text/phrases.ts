import { endsWithAbbreviation, isClauseEnd, isSentenceEnd } from './sentence-ends.ts';
import { speakable } from './speakable.ts';

/**
 * From this many words on, the first phrase may end at a comma, so that speech starts while the sentence is still being
 * generated.
 */
const firstClauseWords = 4;
/** The first phrase is cut here if nothing else ends it. */
const firstMaxWords = 12;
const firstMinWords = 5;
/** Later sentences longer than this are cut at a clause; a Chinese character counts as three. */
const maxLength = 200;
const minLength = 60;
const hanLength = 3;
const hanWords = 0.8;

const han = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const alphabeticWord = /[\p{L}\p{N}][^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]*/gu;
/** Words with which a phrase may well begin. */
const openers = new Set(
  'and but or nor so yet for because although though while when where which who whom that if unless until since as than with without in on at by from into'.split(
    ' ',
  ),
);
/** Words with which a phrase should not end. */
const leaners = new Set(
  'a an the my your his her its our their this of to in on at by for from and or but as is are was very'.split(' '),
);
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/**
 * Splits a stream of text, English or Chinese, into phrases to be spoken, and removes markup (see `speakable`). The
 * first phrase is short, so that speech starts early; later ones are sentences, or clauses if a sentence is long. The
 * joined phrases are exactly the speakable text, each with the white space behind it, and do not depend on how the text
 * was split into deltas. Numbers, abbreviations and initials stay whole; closing quotes stay with their sentence. The
 * end of a phrase is known only once the next character has arrived.
 */
export async function* phrases(deltas: AsyncIterable<string>): AsyncIterable<string> {
  let held = '';
  let first = true;
  for await (const text of speakable(deltas)) {
    for (const character of text) {
      const end = phraseEnd(held, character, first);
      held += character;
      if (end === 0) continue;
      yield held.slice(0, end);
      held = held.slice(end);
      first = false;
    }
  }
  if (held.trim() !== '') yield held;
}

/** Index at which the phrase in `held` ends, given that `next` follows; 0 if it continues. */
function phraseEnd(held: string, next: string, first: boolean): number {
  if (/\s/u.test(next)) return 0;
  const before = held.trimEnd();
  const gap = held.slice(before.length);
  const boundary = gap !== '' || cjk.test(next) || /(?:\P{ASCII}|--)$/u.test(before);
  const tooLong = lengthOf(held) > maxLength;
  if (!boundary && !tooLong) return 0;
  if (!/[\p{L}\p{N}]/u.test(before)) return 0;
  if (isSentenceEnd(before, gap, next)) return held.length;
  const words = first ? wordsIn(held) : 0;
  if (first && words >= firstClauseWords && isClauseEnd(before, gap, next)) return held.length;
  if (first && words >= firstMaxWords) return cutFirst(held, next);
  return tooLong ? cutLong(held, next) : 0;
}

function wordsIn(text: string): number {
  return (text.match(alphabeticWord)?.length ?? 0) - hanIn(text) + hanIn(text) * hanWords;
}

function hanIn(text: string): number {
  return text.match(han)?.length ?? 0;
}

function lengthOf(text: string): number {
  return text.length + hanIn(text) * (hanLength - 1);
}

interface Cut {
  readonly at: number;
  readonly before: string;
  readonly clause: boolean;
}

/** Cut points between words, in order, that split neither a number nor an abbreviation from its name. */
function cutsIn(held: string, next: string): Cut[] {
  const cuts: Cut[] = [];
  const text = held + next;
  for (const { index } of segmenter.segment(text)) {
    const whole = text.slice(0, index);
    const before = whole.trimEnd();
    const gap = whole.slice(before.length);
    const after = text.charAt(index);
    if (index === 0 || /\s/u.test(after)) continue;
    const clause = isClauseEnd(before, gap, after) || before.endsWith('、');
    if (!clause && gap === '' && !(cjk.test(before.slice(-1)) || cjk.test(after))) continue;
    if (/[^\p{L}\p{N}"“‘「『（《(]/u.test(after) || endsWithAbbreviation(before, after)) continue;
    cuts.push({ at: index, before, clause });
  }
  return cuts;
}

function cutFirst(held: string, next: string): number {
  const cuts = cutsIn(held, next).filter((cut) => wordsIn(cut.before) >= firstMinWords);
  return bestOf(cuts, held + next)?.at ?? 0;
}

function cutLong(held: string, next: string): number {
  const cuts = cutsIn(held, next).filter((cut) => lengthOf(cut.before) >= minLength);
  const best = bestOf(cuts, held + next);
  if (best !== undefined) return best.at;
  return lengthOf(held) > 2 * maxLength ? held.length : 0;
}

/**
 * Best cut: the last one after a clause, otherwise before a word that opens a clause, otherwise one that leaves no
 * function word at the end.
 */
function bestOf(cuts: readonly Cut[], text: string): Cut | undefined {
  const opens = (cut: Cut): boolean => openers.has(/^\p{L}+/u.exec(text.slice(cut.at))?.[0].toLowerCase() ?? '');
  const firm = cuts.filter((cut) => !leaners.has(/\p{L}+$/u.exec(cut.before)?.[0].toLowerCase() ?? ''));
  return cuts.findLast((cut) => cut.clause) ?? firm.findLast(opens) ?? firm.at(-1) ?? cuts.at(-1);
}
