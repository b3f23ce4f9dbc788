import llamaTokenizer from 'llama-tokenizer-js';
import type { Message } from '../../../agents/chat.ts';
import { withSurroundings } from '../../../agents/prompting/surroundings-prompt.ts';
import { recipeFor } from '../../../agents/recipes/recipes.ts';
import { loadCharacter } from '../../../characters/character.ts';
import { SessionWorld } from '../../../server/session/history/session-world.ts';

const turns = 12;

/** What a change of the world costs the model that reads the next prompt. */
export interface WorldPromptCost {
  /** Tokens that are read again or anew, beyond those that the same turn needs without a world. */
  readonly extraTokens: readonly number[];
  /** True where a server with a cache of prefixes reads nothing again before the last message of the turn before. */
  readonly prefixHits: readonly boolean[];
}

/**
 * Twelve turns of a talk, each after a change of the world, whose size grows to what the server takes at most. Tokens are
 * those of Llama's tokenizer; a cache holds the prompt of the turn before and its reply.
 */
export async function worldPromptCost(characterFolder: string): Promise<WorldPromptCost> {
  const character = await loadCharacter(characterFolder);
  const build = recipeFor(character);
  const world = new SessionWorld();
  const extraTokens: number[] = [];
  const prefixHits: boolean[] = [];
  const history: Message[] = [];
  let before = { plain: [] as readonly number[], around: [] as readonly number[] };
  for (let turn = 0; turn < turns; turn += 1) {
    history.push({ role: 'user', text: `What do you make of what is going on around us, number ${turn}?` });
    grow(world, turn);
    const { messages } = build(history, {});
    const facts = world.factsFor(character.id, 0);
    const plain = tokensOf(messages);
    const around = tokensOf(withSurroundings(character, messages, { facts, actions: [] }));
    if (turn > 0) {
      const shared = sharedLength(before.around, around);
      extraTokens.push(around.length - shared - (plain.length - sharedLength(before.plain, plain)));
      prefixHits.push(shared >= tokensOf(messages.slice(0, -3)).length);
    }
    const reply = { role: 'assistant', text: `I make of it what I can, and that is little, on turn ${turn}.` } as const;
    history.push(reply);
    before = { plain: [...plain, ...tokensOf([reply])], around: [...around, ...tokensOf([reply])] };
  }
  return { extraTokens, prefixHits };
}

/** Adds an eleventh of what a world may hold, and changes one state that was there. */
function grow(world: SessionWorld, turn: number): void {
  for (let object = 0; object < 40; object += 1) {
    const id = `thing-${turn}-${object}`;
    const about = 'stands by the wall, covered with dust';
    const taken = world.take({
      set: { hour: `${turn} o'clock` },
      objects: [{ id, name: `old lamp ${object}`, about }],
    });
    if ('code' in taken || taken.tokens > (2_048 * (turn + 1)) / (turns - 1)) return;
  }
}

function tokensOf(messages: readonly { readonly role: string; readonly text: string }[]): readonly number[] {
  return messages.flatMap(({ role, text }) => llamaTokenizer.encode(`<|${role}|>\n${text}\n`));
}

function sharedLength(one: readonly number[], other: readonly number[]): number {
  const end = one.findIndex((token, index) => token !== other[index]);
  return end === -1 ? one.length : end;
}
