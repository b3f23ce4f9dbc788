import type { Character } from '../../characters/character.ts';
import type { DialoguePair } from '../../characters/card.ts';
import { inventionsAfter } from '../guardrails/inventions.ts';
import { openGuardrail } from '../guardrails/guardrail-rules.ts';
import { messageKey } from '../retrieval/paraphrases.ts';
import { unspeakable } from './check-card.ts';
import { contradiction, note, rowOf, shortened, type Finding } from './finding.ts';
import { openKinship } from './kinship.ts';

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

/**
 * Finds repeated triggers and replies. Only a reader can tell whether two answers to one trigger contradict each other,
 * so these are notes.
 */
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
