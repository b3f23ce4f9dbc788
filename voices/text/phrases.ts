import { lookBackCharacters, maxPhraseCharacters } from '../limits.ts';
import { SpeakableFilter } from './speakable.ts';

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
/** Characters after which a text in which no cut was found is searched again. */
const searchAgainAfter = 8;

const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const letterOrDigit = /[\p{L}\p{N}]/u;
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
 * end of a phrase is known only once the next character is, which may be announced ahead of its text.
 */
export async function* phrases(deltas: AsyncIterable<string | Announced>): AsyncIterable<string> {
  const filter = new SpeakableFilter();
  let held = new Held();
  let first = true;
  /** Returns the phrase that ends because `next` follows, if one does. */
  const endedBy = (next: string, text: string): string | undefined => {
    const end = phraseEnd(held, next, first);
    held.add(text);
    if (end === 0) return undefined;
    const phrase = held.text.slice(0, end);
    held = new Held(held.text.slice(end));
    first = false;
    return phrase;
  };
  for await (const delta of deltas) {
    if (typeof delta === 'string') {
      for (const character of filter.push(delta)) {
        const phrase = endedBy(character, character);
        if (phrase !== undefined) yield phrase;
      }
    } else if (letterOrDigit.test(delta.next)) {
      for (const space of filter.takeGap() ?? '') held.add(space);
      const phrase = endedBy(delta.next, '');
      if (phrase !== undefined) yield phrase;
    }
  }
  for (const character of filter.end()) {
    const phrase = endedBy(character, character);
    if (phrase !== undefined) yield phrase;
  }
  if (held.text.trim() !== '') yield held.text;
}

/** The character that follows the text so far, if that text is ahead of the rest: what follows is still being checked. */
export interface Announced {
  readonly next: string;
}

/** The text of the next phrase so far, measured as it grows, so that no character is counted twice. */
class Held {
  text = '';
  hasLetters = false;
  /** Ends of the shortest beginnings that may become a first phrase, and a later one. */
  shortestFirst = Infinity;
  shortestLater = Infinity;
  /** The text up to here was searched for a cut, and has none. */
  searchedTo = 0;
  #words = 0;
  #hans = 0;
  #isInWord = false;

  constructor(text = '') {
    for (const character of text) this.add(character);
  }

  get words(): number {
    return this.#words - this.#hans + this.#hans * hanWords;
  }

  get length(): number {
    return this.text.length + this.#hans * (hanLength - 1);
  }

  add(character: string): void {
    this.text += character;
    if (/\s/u.test(character)) {
      this.#isInWord = false;
      return;
    }
    const isHan = cjk.test(character);
    const isLetter = letterOrDigit.test(character);
    if (isLetter && (isHan || !this.#isInWord)) this.#words += 1;
    if (isHan) this.#hans += 1;
    this.#isInWord = isHan ? isLetter : isLetter || this.#isInWord;
    this.hasLetters ||= isLetter;
    const end = this.text.length;
    if (this.shortestFirst > end && this.words >= firstMinWords) this.shortestFirst = end;
    if (this.shortestLater > end && this.length >= minLength) this.shortestLater = end;
  }
}

/** Index at which the phrase in `held` ends, given that `next` follows; 0 if it continues. */
function phraseEnd(held: Held, next: string, first: boolean): number {
  if (/\s/u.test(next)) return 0;
  const { before, gap } = endOf(held.text);
  const whole = held.text.length;
  const mustEnd = held.length > maxPhraseCharacters;
  if (!held.hasLetters) return mustEnd ? whole : 0;
  const boundary = gap !== '' || cjk.test(next) || /(?:\P{ASCII}|--)$/u.test(before);
  const tooLong = held.length > maxLength;
  if (!boundary && !tooLong) return 0;
  if (isSentenceEnd(before, gap, next)) return whole;
  if (first && held.words >= firstClauseWords && isClauseEnd(before, gap, next)) return whole;
  const isLongFirst = first && held.words >= firstMaxWords;
  if (!isLongFirst && !tooLong) return 0;
  const cut = bestCut(held, next, isLongFirst ? held.shortestFirst : held.shortestLater);
  return cut ?? (mustEnd ? whole : 0);
}

/** The last characters of a text, without the white space at its end. */
function endOf(text: string): { readonly before: string; readonly gap: string } {
  const tail = text.slice(-lookBackCharacters);
  const before = tail.trimEnd();
  return { before, gap: tail.slice(before.length) };
}

interface Cut {
  readonly at: number;
  readonly before: string;
  readonly clause: boolean;
}

/** The best cut that leaves a phrase of `shortest` characters; what was searched before is not searched again. */
function bestCut(held: Held, next: string, shortest: number): number | undefined {
  const { searchedTo, text } = held;
  if (searchedTo > 0 && text.length - searchedTo < searchAgainAfter) return undefined;
  held.searchedTo = text.length;
  const from = searchedTo === 0 ? 0 : Math.max(0, searchedTo - lookBackCharacters);
  return bestOf(cutsIn(text + next, from, shortest), text + next)?.at;
}

/** Cut points between words, in order, that split neither a number nor an abbreviation from its name. */
function cutsIn(text: string, from: number, shortest: number): Cut[] {
  const cuts: Cut[] = [];
  for (const { index } of segmenter.segment(text.slice(from))) {
    const at = from + index;
    const { before, gap } = endOf(text.slice(Math.max(0, at - lookBackCharacters), at));
    const after = text.charAt(at);
    if (index === 0 || at - gap.length < shortest || /\s/u.test(after)) continue;
    const clause = isClauseEnd(before, gap, after) || before.endsWith('、');
    if (!clause && gap === '' && !(cjk.test(before.slice(-1)) || cjk.test(after))) continue;
    if (/[^\p{L}\p{N}"“‘「『（《(]/u.test(after) || endsWithAbbreviation(before, after)) continue;
    cuts.push({ at, before, clause });
  }
  return cuts;
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

/** Abbreviations after which the sentence continues, in lower case, without the period. */
const abbreviations = new Set(
  (
    'mr mrs ms mx dr st prof capt cpt col gen lt maj sgt cmdr adm rev hon pres gov sen rep messrs mme mlle jr sr esq ' +
    'vs etc cf viz al ca approx inc ltd corp co dept mt ft ave blvd jan feb apr jun jul aug sept oct nov dec'
  ).split(' '),
);

/** Abbreviations only before a number: "No. 5", but "No. I will not." */
const numbered = new Set('no nos vol fig ch pp p art sec op ex'.split(' '));

const closers = '["\'”’»)\\]」』》）】]';
const endPattern = new RegExp(`([.!?…。！？]+)${closers}*$`, 'u');
const clausePattern = new RegExp(`(?:[,;:]${closers}*|[，；：](?:${closers}*)|[—–]|--|\\s-|……)$`, 'u');
const tokenPattern = new RegExp(`([^\\s"'“”‘’«»()\\[\\]—–]+)${closers}*$`, 'u');
/** Characters that never begin a phrase: they belong to the text before them. */
const belongsBefore = /["'”’»)\]」』》）】.,;:!?…。，、；：！？~～—–-]/u;
const hanOrKana = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * True if the last word of `textBefore` ends in a period that does not end its sentence; `next` is the character that
 * follows.
 */
export function endsWithAbbreviation(textBefore: string, next: string): boolean {
  const before = textBefore.slice(-lookBackCharacters);
  const token = tokenPattern.exec(before)?.[1] ?? '';
  if (!token.endsWith('.') || token.endsWith('..')) return false;
  const word = token.slice(0, -1);
  if (/^(?:\p{L}\.)+\p{L}$/u.test(word)) return true;
  if (/^\p{Lu}$/u.test(word)) return word !== 'I' || /\p{Lu}\.\s*$/u.test(before.slice(0, -token.length));
  if (numbered.has(word.toLowerCase())) return /\p{N}/u.test(next);
  return abbreviations.has(word.toLowerCase());
}

/**
 * True if a sentence ends with `textBefore`, given that `gap` (white space or nothing) and then the character `next`
 * follow. An empty line ends a sentence too, and so does a line break that is not followed by a lower-case letter.
 */
export function isSentenceEnd(textBefore: string, gap: string, next: string): boolean {
  const before = textBefore.slice(-lookBackCharacters);
  if (gap === '' && belongsBefore.test(next)) return false;
  const goesOn = /\p{Ll}/u.test(next);
  const marks = endPattern.exec(before)?.[1];
  if (gap.includes('\n') && (!goesOn || gap.includes('\n\n'))) return !endsWithAbbreviation(before, next);
  if (marks === undefined) return false;
  if (/[。！？]/u.test(marks)) return true;
  if (gap === '') return hanOrKana.test(next) && /[.!?]$/u.test(marks) && !/\.{2}/u.test(marks);
  if (goesOn) return /[!?]$/u.test(before);
  return !endsWithAbbreviation(before, next);
}

/**
 * True if a speaker could pause between `textBefore` and what follows: after a comma, colon or dash; Chinese needs no gap.
 */
export function isClauseEnd(textBefore: string, gap: string, next: string): boolean {
  const before = textBefore.slice(-lookBackCharacters);
  if (gap === '' && belongsBefore.test(next)) return false;
  if (!clausePattern.test(before)) return false;
  return gap !== '' || hanOrKana.test(next) || hanOrKana.test(before) || /[—–]$|--$/u.test(before);
}

/** Cut points from best to worst: after a sentence, after a clause, after a space. */
const cutPoints = [/[.!?…。！？]["'”’」』）)]*\s*/gu, /[,;:，；：、—]\s*/gu, /\s+/gu];

/**
 * Splits text that is too long for one call into pieces of about `maxCharacters` UTF-16 units, each at the best cut
 * point in its last two thirds. Pieces that `sayable` rejects are joined to a neighbour, so that every piece produces
 * audio; the result is empty if nothing in the text can be spoken. The joined pieces are the text.
 */
export function splitText(text: string, maxCharacters: number, sayable: (piece: string) => boolean): string[] {
  const found: string[] = [];
  let waiting = '';
  for (let rest = text; rest !== '';) {
    const end = rest.length <= maxCharacters ? rest.length : cutBefore(rest, maxCharacters);
    const piece = waiting + rest.slice(0, end);
    const sounds = sayable(rest.slice(0, end));
    rest = rest.slice(end);
    waiting = '';
    if (sounds) found.push(piece);
    else if (found.length > 0) found[found.length - 1] += piece;
    else waiting = piece;
  }
  return found;
}

function cutBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const pattern of cutPoints) {
    const ends = [...head.matchAll(pattern)].map((match) => match.index + match[0].length);
    const last = ends.findLast((end) => end >= limit / 3);
    if (last !== undefined) return last;
  }
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit;
}
