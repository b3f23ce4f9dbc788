import path from 'node:path';
import { loadCharacters } from '../../../characters/character.ts';
import type { Character } from '../../../characters/character.ts';
import type { Message } from '../../../agents/chat.ts';

/** Amount of data in a large character. */
export interface PackSize {
  readonly lines: number;
  readonly lore: number;
  readonly memories: number;
}

/** A character of a given size, its memories, and user messages for it. */
export interface LargePack {
  readonly character: Character;
  readonly memories: readonly string[];
  /** Conversations of up to forty messages that end with a user message. */
  readonly talks: readonly (readonly Message[])[];
}

/**
 * Builds a pack from recombined sentences of the shipped packs, so that word frequencies are natural. Deterministic.
 */
export async function largePack({ lines, lore, memories }: PackSize): Promise<LargePack> {
  const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));
  const [first] = packs;
  if (first === undefined) throw new Error('there are no packs');
  const asks = packs.flatMap((pack) => pack.lines.flatMap((line) => line.asks));
  const replies = packs.flatMap((pack) => pack.lines.map((line) => line.reply));
  const words = [...new Set(replies.join(' ').match(/\p{L}{5,}/gu))];
  const draw = seededRandom(7);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(draw() * items.length)] as Item;
  const character: Character = {
    ...first,
    lines: Array.from({ length: lines }, () => ({
      asks: [`${pick(asks)} ${pick(words)}`.slice(0, 400), pick(asks)],
      reply: pick(replies),
    })),
    lorebook: Array.from({ length: lore }, (_, index) => ({
      keys: [pick(words), `${pick(words)} ${pick(words)}`, ...(index % 10 === 0 ? [`${pick(words)}s?`] : [])],
      content: `${pick(replies)} ${pick(replies)}`,
      constant: false,
      ...(index % 10 === 0 ? { regex: true } : {}),
    })),
    loreReading: { ...first.loreReading, recursive: true },
  };
  const talks = Array.from({ length: 40 }, () => {
    const before = Array.from({ length: Math.floor(draw() * 20) }, (): Message[] => [
      { role: 'user', text: pick(asks) },
      { role: 'assistant', text: pick(replies) },
    ]).flat();
    return [...before, { role: 'user' as const, text: `${pick(asks)} ${pick(replies)}` }];
  });
  return { character, memories: Array.from({ length: memories }, () => `${pick(replies)} ${pick(asks)}`), talks };
}

/** A simple generator of numbers from 0 to 1 (Park and Miller 1988). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
