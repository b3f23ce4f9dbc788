import type { Message } from '../chat.ts';

/** Clarity by id, from 0 (nothing is heard) to 1 (every word); 1 for those that are not named. */
export type Clarity = Readonly<Record<string, number>>;

/** Clarity by listener, then by speaker. */
export type Hears = Readonly<Record<string, Clarity>>;

/** The user as a speaker. */
export const userSpeaks = 'user';

/**
 * Below this clarity a voice is heard without its words. There is no range in which single words are lost: a chat model
 * guesses the missing ones, and a game could not know whether a secret was overheard.
 */
const wordsFrom = 0.5;

/** The part of a sentence that a listener understands. */
type Grasp = 'words' | 'voice' | 'nothing';

/** Returns what a listener gets of words that were heard so. */
export function graspOf(heardBy: Clarity | undefined, listener: string): Grasp {
  const clarity = heardBy?.[listener] ?? 1;
  if (clarity <= 0) return 'nothing';
  return clarity < wordsFrom ? 'voice' : 'words';
}

/** Returns the clarity of a speaker for each listener that does not hear every word; undefined if all do. A listener without a value for the speaker has that of `otherwise`. */
export function heardByOf(hears: Hears | undefined, speaker: string, otherwise = speaker): Clarity | undefined {
  const found = Object.entries(hears ?? {}).flatMap(([listener, of]) => {
    const clarity = listener === speaker ? 1 : (of[speaker] ?? of[otherwise] ?? 1);
    return clarity >= wordsFrom ? [] : [[listener, clarity] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/**
 * Returns a history as one listener has heard it: without what it did not hear, and with a note for a voice whose words
 * it could not make out. Its own words are its own.
 */
export function asHeard(history: readonly Message[], listener: string, inChinese: boolean): Message[] {
  return history.flatMap((message): Message[] => {
    const grasp =
      message.role === 'user' || message.role === 'assistant' ? graspOf(message.heardBy, listener) : 'words';
    if (grasp === 'nothing') return [];
    if (grasp === 'words') return [message];
    return [
      {
        ...message,
        text: inChinese ? '（说了些什么，太远，听不清。）' : '(says something, too far away to make out.)',
      },
    ];
  });
}

/** Returns the listeners that made out the last words of a history; if there are none, those that heard a voice; otherwise all. */
export function listenersTo<Who extends { readonly id: string }>(
  listeners: readonly Who[],
  heardBy: Clarity | undefined,
): readonly Who[] {
  const hearing = listeners.filter(({ id }) => graspOf(heardBy, id) === 'words');
  if (hearing.length > 0) return hearing;
  const faintly = listeners.filter(({ id }) => graspOf(heardBy, id) === 'voice');
  return faintly.length > 0 ? faintly : listeners;
}
