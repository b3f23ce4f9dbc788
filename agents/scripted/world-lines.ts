import { isOfWorld, type DialoguePair } from '../../characters/card.ts';
import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { oncePer } from '../once-per.ts';
import { isSameLine } from '../retrieval/choice.ts';
import { indexLines } from '../retrieval/line-index.ts';
import type { Surroundings } from '../surroundings.ts';

/** A line of the world answers only a message that fits it this well. */
const leastFit = 0.6;
/** A line is not said again within this many replies. */
const restReplies = 4;

const ofWorld = oncePer((character: Character) => character.lines.filter(isOfWorld));

interface Situated {
  readonly character: Character;
  readonly history: readonly Message[];
  readonly userMessage: string;
  readonly around: Surroundings;
}

/**
 * Returns the line of the pack that fits the world of a game as it is: for an event, one that reacts to it; otherwise one
 * that answers the user message. Names of states are filled in; undefined if no line fits.
 */
export function worldLine({ character, history, userMessage, around }: Situated): DialoguePair | undefined {
  const replies = history.flatMap(({ role, text }) => (role === 'assistant' ? [text] : [])).slice(-restReplies);
  const due = ofWorld(character)
    .filter((pair) => holds(pair, around))
    .map((pair) => ({ ...pair, reply: filled(pair.reply, around) }))
    .filter(({ reply }) => !reply.includes('{{world::') && !replies.some((text) => isSameLine(text, reply)));
  if (due.length === 0) return undefined;
  if (around.reacts !== undefined) return due.find(({ when }) => when?.event !== undefined);
  const [best] = userMessage === '' ? [] : indexLines(due, character.name)(userMessage);
  return best !== undefined && best.fit >= leastFit ? best.pair : undefined;
}

type Range = NonNullable<NonNullable<DialoguePair['when']>['relation']>[string];

function holds({ when = {} }: DialoguePair, { states, news, relations = [] }: Surroundings): boolean {
  const { state = {}, relation = {}, event } = when;
  const isInRange = ([axis, { min = -Infinity, max = Infinity }]: [string, Range]): boolean =>
    relations.some((now) => now.axis === axis && now.value >= min && now.value <= max);
  const areSo = Object.entries(state).every(([name, value]) => states.get(name)?.toLowerCase() === value.toLowerCase());
  return (
    areSo &&
    Object.entries(relation).every(isInRange) &&
    (event === undefined || news.some((text) => hasWords(text, event)))
  );
}

function hasWords(text: string, words: string): boolean {
  const all = wordsIn(text);
  return wordsIn(words).every((word) => all.includes(word));
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [];
}

/** Fills in states of the world; one that is not set stays, so that the line is not said. */
function filled(reply: string, { states }: Surroundings): string {
  return reply.replaceAll(/\{\{world::([^{}]+)\}\}/gu, (whole, name: string) => {
    // A state is words, and no action.
    return states.get(name.trim())?.replaceAll(/[()[\]{}*_]/gu, '') ?? whole;
  });
}
