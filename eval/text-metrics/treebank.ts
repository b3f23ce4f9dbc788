import { lowerCaseSentences } from './lower-case-sentences.ts';

/**
 * Divides a text, in lower case, as in the Penn Treebank, with the choices of NLTK's `word_tokenize`: punctuation is split
 * off, quotation marks become opening (two backquotes) or closing (two apostrophes), commas and colons before digits
 * and full stops inside a sentence stay where they are, and contractions are divided (`do n't`, `he 's`, `can not`).
 */
export function treebankTokens(text: string): readonly string[] {
  return lowerCaseSentences(text.toLowerCase()).flatMap(tokensOf);
}

/** Words that count as two. */
const pairs =
  /(?<![\p{L}\p{N}_])(?:(can)(not)|(d)('ye)|(gim|lem)(me)|(gon)(na)|(got)(ta)|(more)('n)|(wan)(na)(?=\s))(?![\p{L}\p{N}_])/gu;

/** The order of the steps matters: later ones see the blanks that earlier ones make. */
function tokensOf(sentence: string): string[] {
  const opened = sentence
    .replaceAll(/[«“‘„]|`+/gu, ' $& ')
    .replace(/^"/u, '``')
    .replaceAll('``', ' $& ')
    .replaceAll(/([ ([{<])(?:"|'')/gu, '$1 `` ')
    .replaceAll(/'(?!re|ve|ll|m|t|s|d|n)([\p{L}\p{N}_])(?![\p{L}\p{N}_])/gu, "' $1");
  const spaced = opened
    .replace(/([^.])\.([\])}>"'»”’ ]*)\s*$/u, '$1 . $2 ')
    .replaceAll(/([:,])(\D)/gu, ' $1 $2')
    .replace(/[:,]$/u, ' $& ')
    .replaceAll(/\.{2,}|[;@#$%&?!*]/gu, ' $& ')
    .replaceAll(/([^'])' /gu, "$1 ' ")
    .replaceAll(/[\][(){}<>]|--/gu, ' $& ');
  return ` ${spaced} `
    .replaceAll(/[»”’]|''/gu, ' $& ')
    .replaceAll('"', " '' ")
    .replaceAll(/([^' ])('[smd]?) /gu, '$1 $2 ')
    .replaceAll(/([^' ])('ll|'re|'ve|n't) /gu, '$1 $2 ')
    .replaceAll(pairs, splitIn)
    .replaceAll(/ ('t)(is|was)(?![\p{L}\p{N}_])/gu, ' $1 $2 ')
    .split(/\s+/u)
    .filter(Boolean);
}

function splitIn(_: string, ...groups: readonly unknown[]): string {
  const [first, second] = groups.filter((group): group is string => typeof group === 'string');
  return ` ${first} ${second} `;
}
