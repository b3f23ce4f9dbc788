import type { Character } from '../../characters/character.ts';

/** Ties of which nobody has two to one person; words of one row mean the same tie. */
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

/** A tie that the card does not have. */
export interface Claim {
  readonly what: string;
  readonly isSure: boolean;
}

/**
 * Finds sentences that make somebody of the card's relationships a relative of another kind: "my brother John" where the card says
 * "his cousin". `isSure` where the whole name is said: there may be two Johns. People whose relation names no tie of the list are passed over.
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
        : [{ isSure, what: `calls ${name} ${wrong.split('|')[0] ?? ''}, whom the card has as "${relation}"` }];
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

/** The whole name, and its first and last word where they are names by themselves. */
function namesOf(name: string): string[] {
  const words = name.split(/[\s,]+/u).filter((word) => /^\p{Lu}\p{L}{2,}/u.test(word));
  return [...new Set([name, ...words.slice(0, 1), ...words.slice(-1)])];
}
