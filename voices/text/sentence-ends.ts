/** Abbreviations after which the sentence goes on, lower case, without the point. */
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
/** Never begins a phrase: it belongs to what stands before it. */
const belongsBefore = /["'”’»)\]」』》）】.,;:!?…。，、；：！？~～—–-]/u;
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** True where the last word of `before` ends in a point that does not end its sentence; `next` is the character that follows. */
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
 * Whether a sentence ends with `before`, when `gap` (white space or nothing) and then the character `next` follow. A line
 * that does not go on in lower case, and an empty line, end a sentence too.
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

/** Whether a speaker could pause between `before` and what follows: after a comma, colon, dash; Chinese needs no gap. */
export function isClauseEnd(before: string, gap: string, next: string): boolean {
  if (gap === '' && belongsBefore.test(next)) return false;
  if (!clausePattern.test(before)) return false;
  return gap !== '' || cjk.test(next) || cjk.test(before) || /[—–]$|--$/u.test(before);
}
