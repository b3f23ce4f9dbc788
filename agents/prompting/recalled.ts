import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { openHybrid, type Hybrid } from '../embeddings/hybrid.ts';
import { lorebookOf } from './lorebook.ts';
import type { Near } from './meaning.ts';
import { withinTokens } from '../llm/token-estimate.ts';

/** As many as CoSER retrieves (`expr3`). */
export const experienceCount = 3;
const experienceTokens = 400;

const opened = new WeakMap<readonly string[], Hybrid>();

/** What a character has lived through, to be searched; opened once for each list. Undefined where there is nothing. */
export function experiencesOf({ experiences = [] }: Pick<Character, 'experiences'>): Hybrid | undefined {
  if (experiences.length === 0) return undefined;
  const book = opened.get(experiences) ?? openHybrid(experiences, { byTopic: true });
  opened.set(experiences, book);
  return book;
}

/**
 * What a talk brings to a character's mind: facts of the lorebook whose keys were said, and experiences that have a topic in common with
 * the last remark; with `near`, facts and experiences near it in meaning too.
 */
export function recalledOf(character: Character): (talk: readonly Message[], near?: Near) => readonly string[] {
  const { experiences = [] } = character;
  const recall = lorebookOf(character);
  const lived = experiencesOf(character);
  return (talk, near) => {
    const remark = talk.findLast(({ role }) => role === 'user')?.text ?? '';
    const byWords = (): readonly string[] =>
      lived?.search(remark, experienceCount).flatMap(({ index }) => experiences[index] ?? []) ?? [];
    const experienced = withinTokens(near?.experiences ?? byWords(), experienceTokens);
    return [...new Set([...recall(talk), ...(near?.lore ?? []), ...experienced])];
  };
}
