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
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * True if the last word of `before` ends in a period that does not end its sentence; `next` is the character that
 * follows.
 */
export function endsWithAbbreviation(before: string, next: string): boolean {
  const token = tokenPattern.exec(before)?.[1] ?? '';
  if (!token.endsWith('.') || token.endsWith('..')) return false;
  const word = token.slice(0, -1);
  if (/^(?:\p{L}\.)+\p{L}$/u.test(word)) return true;
  if (/^\p{Lu}$/u.test(word)) return word !== 'I' || /\p{Lu}\.\s*$/u.test(before.slice(0, -token.length));
  if (numbered.has(word.toLowerCase())) return /\p{N}/u.test(next);
  return abbreviations.has(word.toLowerCase());
}

/**
 * True if a sentence ends with `before`, given that `gap` (white space or nothing) and then the character `next`
 * follow. An empty line ends a sentence too, and so does a line break that is not followed by a lower-case letter.
 */
export function isSentenceEnd(before: string, gap: string, next: string): boolean {
  if (gap === '' && belongsBefore.test(next)) return false;
  const goesOn = /\p{Ll}/u.test(next);
  const marks = endPattern.exec(before)?.[1];
  if (gap.includes('\n') && (!goesOn || gap.includes('\n\n'))) return !endsWithAbbreviation(before, next);
  if (marks === undefined) return false;
  if (/[。！？]/u.test(marks)) return true;
  if (gap === '') return cjk.test(next) && /[.!?]$/u.test(marks) && !/\.{2}/u.test(marks);
  if (goesOn) return /[!?]$/u.test(before);
  return !endsWithAbbreviation(before, next);
}

/**
 * True if a speaker could pause between `before` and what follows: after a comma, colon or dash; Chinese needs no gap.
 */
export function isClauseEnd(before: string, gap: string, next: string): boolean {
  if (gap === '' && belongsBefore.test(next)) return false;
  if (!clausePattern.test(before)) return false;
  return gap !== '' || cjk.test(next) || cjk.test(before) || /[—–]$|--$/u.test(before);
}
