import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { openHybrid, type Hybrid } from '../embeddings/hybrid.ts';
import { lorebookOf } from './lorebook.ts';
import type { PackMatches } from './pack-search.ts';
import { withinTokens } from '../llm/token-estimate.ts';

/** The number CoSER retrieves (`expr3`). */
export const experienceCount = 3;
const experienceTokens = 400;

const opened = new WeakMap<readonly string[], Hybrid>();

/** Search index of a character's experiences; opened once for each list. Undefined if there are none. */
export function experiencesOf({ experiences = [] }: Pick<Character, 'experiences'>): Hybrid | undefined {
  if (experiences.length === 0) return undefined;
  const book = opened.get(experiences) ?? openHybrid(experiences, { byTopic: true });
  opened.set(experiences, book);
  return book;
}

/** Triggered lore entries, experiences that share a topic with the last user message, and what `near` matched. */
export function recalledOf(character: Character): (talk: readonly Message[], near?: PackMatches) => readonly string[] {
  const { experiences = [] } = character;
  const recall = lorebookOf(character);
  const lived = experiencesOf(character);
  return (talk, near) => {
    const userMessage = talk.findLast(({ role }) => role === 'user')?.text ?? '';
    const byWords = (): readonly string[] =>
      lived?.search(userMessage, experienceCount).flatMap(({ index }) => experiences[index] ?? []) ?? [];
    const experienced = withinTokens(near?.experiences ?? byWords(), experienceTokens);
    return [...new Set([...recall(talk), ...(near?.lore ?? []), ...experienced])];
  };
}
