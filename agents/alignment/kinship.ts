import type { Character } from '../../characters/character.ts';

/** Kinship terms, at most one of which applies between two people; words in one row are synonyms. */
const ties = [
  'father|dad|papa',
  'mother|mum|mama',
  'brother',
  'sister',
  'son',
  'daughter',
  'wife',
  'husband',
  'uncle',
  'aunt',
  'cousin',
  'nephew',
  'niece',
];
const chineseTies = [
  '父亲|爹|爸爸',
  '母亲|娘|妈妈',
  '哥哥|弟弟',
  '姐姐|妹妹',
  '儿子',
  '女儿',
  '妻子|老婆|娘子',
  '丈夫',
];

/** A kinship claim that the card contradicts. */
export interface Claim {
  readonly what: string;
  readonly isSure: boolean;
}

/**
 * Finds sentences that give a person of the card's relationships another kinship: "my brother John" if the card says
 * "his cousin". `isSure` if the full name is used: there may be two Johns. People whose relation contains no term of
 * the list are skipped.
 */
export function openKinship({ relationships }: Character): (text: string) => readonly Claim[] {
  const people = relationships.flatMap(({ name, relation }) => {
    const known = [...ties, ...chineseTies].filter((tie) => new RegExp(boundary(tie), 'iu').test(relation));
    return known.length === 0 ? [] : [{ names: namesOf(name), name, relation, known }];
  });
  return (text) =>
    people.flatMap(({ names, name, relation, known }) => {
      const claimed = [...ties, ...chineseTies].filter((tie) => claims(text, tie, names));
      const wrong = claimed.find((tie) => !known.includes(tie));
      const isSure = wrong !== undefined && claims(text, wrong, [name]);
      return wrong === undefined
        ? []
        : [{ isSure, what: `calls ${name} ${wrong.split('|')[0] ?? ''}, but the card says "${relation}"` }];
    });
}

function claims(text: string, tie: string, names: readonly string[]): boolean {
  const name = names.map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|');
  const patterns = [
    `\\bmy (?:\\w+ )?(?:${tie}),? (?:${name})\\b`,
    `\\b(?:${name}),? (?:is |was )?my (?:\\w+ )?(?:${tie})\\b`,
    `我(?:的)?(?:${tie})(?:${name})`,
    `(?:${name})是我(?:的)?(?:${tie})`,
  ];
  return patterns.some((pattern) => new RegExp(pattern, 'iu').test(text));
}

function boundary(tie: string): string {
  return /\p{Script=Han}/u.test(tie) ? `(?:${tie})` : `\\b(?:${tie})\\b`;
}

/** The full name, and its first and last word if they are names by themselves. */
function namesOf(name: string): string[] {
  const words = name.split(/[\s,]+/u).filter((word) => /^\p{Lu}\p{L}{2,}/u.test(word));
  return [...new Set([name, ...words.slice(0, 1), ...words.slice(-1)])];
}
