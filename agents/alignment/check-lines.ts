import type { Character } from '../../characters/character.ts';
import type { DialoguePair } from '../../characters/card.ts';
import { inventionsAfter } from '../guardrails/inventions.ts';
import { openGuardrail } from '../guardrails/guardrail-rules.ts';
import { messageKey } from '../retrieval/paraphrases.ts';
import { unspeakable } from './check-card.ts';
import { contradiction, note, rowOf, shortened, type Finding } from './finding.ts';

/** Finds example lines that contradict the card or each other. */
export function checkLines(character: Character): Finding[] {
  return [
    ...character.lines.flatMap((line, index) => checkLine(character, line, rowOf(index))),
    ...duplicates(character.lines),
  ];
}

function checkLine(character: Character, line: DialoguePair, where: string): Finding[] {
  const { untilYear } = character.knowledge;
  const asked = line.asks.join('\n');
  const guard = openGuardrail(character, [{ role: 'user', text: asked }]);
  const sentences = line.reply.match(/[^.!?。！？]+[.!?。！？]*/gu) ?? [];
  const violations = sentences.flatMap((sentence) => guard(sentence.trim()) ?? []);
  const otherLanguage = languageOfLine(character, line, where);
  const sign = unspeakable.exec(line.reply)?.[0];
  return [
    ...(inventionsAfter(untilYear)(line.reply, asked)
      ? [contradiction(where, `mentions something later than ${untilYear}: "${shortened(line.reply)}"`)]
      : []),
    ...[...new Set(violations)]
      .filter((violation) => violation !== 'anachronism' && (violation !== 'language' || otherLanguage.length === 0))
      .map((violation) =>
        contradiction(where, `the guardrail would block this (${violation}): "${shortened(line.reply)}"`),
      ),
    ...otherLanguage,
    ...openKinship(character)(line.reply).map(({ isSure, what }) =>
      isSure ? contradiction(where, what) : note(where, `${what}, if they mean the same`),
    ),
    ...(sign === undefined ? [] : [note(where, `cannot be spoken as written: "${sign}"`)]),
  ];
}

function languageOfLine(character: Character, { reply, language }: DialoguePair, where: string): Finding[] {
  const tag = language ?? character.languages[0] ?? 'en';
  const wrongTag = character.languages.includes(tag)
    ? []
    : [
        contradiction(
          where,
          `is in ${tag}, which is not among the card's languages (${character.languages.join(', ')})`,
        ),
      ];
  const hanCount = reply.match(/\p{Script=Han}/gu)?.length ?? 0;
  const latinCount = reply.match(/\p{Script=Latin}/gu)?.length ?? 0;
  const isHan = /^(?:zh|yue|ja)/u.test(tag);
  const looksHan = hanCount * 2 > latinCount;
  if (hanCount + latinCount < 4 || isHan === looksHan) return wrongTag;
  const isOther = isHan ? latinCount > 0 : hanCount > 0;
  return isOther ? [...wrongTag, contradiction(where, `is not in ${tag}: "${shortened(reply)}"`)] : wrongTag;
}

/** Repeated triggers and replies, as notes: only a reader can judge whether two answers contradict each other. */
function duplicates(lines: readonly DialoguePair[]): Finding[] {
  const asks = new Map<string, number>();
  const replies = new Map<string, number>();
  return lines.flatMap(({ asks: own, reply, language = '' }, index) => {
    const found: Finding[] = [];
    for (const ask of own) {
      const key = `${language} ${messageKey(ask)}`;
      const before = asks.get(key);
      if (before !== undefined && before !== index)
        found.push(note(rowOf(index), `"${shortened(ask)}" is already a trigger in ${rowOf(before)}`));
      asks.set(key, index);
    }
    const before = replies.get(reply.trim());
    if (before !== undefined) found.push(note(rowOf(index), `has the same reply as ${rowOf(before)}`));
    replies.set(reply.trim(), index);
    return found;
  });
}

/** Kinship terms, at most one of which applies between two people; words joined by | are synonyms. */
const ties = [
  ...'father|dad|papa mother|mum|mama brother sister son daughter wife husband uncle aunt cousin nephew niece'.split(
    ' ',
  ),
  ...'父亲|爹|爸爸 母亲|娘|妈妈 哥哥|弟弟 姐姐|妹妹 儿子 女儿 妻子|老婆|娘子 丈夫'.split(' '),
];

/** A kinship claim that the card contradicts. */
interface Claim {
  readonly what: string;
  readonly isSure: boolean;
}

/**
 * Finds sentences that give a person of the card's relationships another kinship: "my brother John" for "his cousin".
 * `isSure` with the full name, as there may be two Johns. Skips relations without a term of the list.
 */
function openKinship({ relationships }: Character): (text: string) => readonly Claim[] {
  const people = relationships.flatMap(({ name, relation }) => {
    const known = ties.filter((tie) => new RegExp(boundary(tie), 'iu').test(relation));
    return known.length === 0 ? [] : [{ names: namesOf(name), name, relation, known }];
  });
  return (text) =>
    people.flatMap(({ names, name, relation, known }) => {
      const claimed = ties.filter((tie) => claims(text, tie, names));
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
