import type { Character } from '../../characters/character.ts';
import type { OmniMessage, OmniAudio } from '../../voices/omni.ts';
import type { Situation } from '../agent.ts';
import type { Message } from '../chat.ts';
import type { PackMatches } from './pack-search.ts';
import { personaWords } from './persona-words.ts';
import { buildPrompt } from './prompt.ts';
import type { Surroundings } from '../surroundings.ts';
import { withSurroundings } from './surroundings-prompt.ts';
import { recalledOf } from './recalled.ts';

/** Inputs of a spoken reply. */
export interface OmniTurn {
  readonly scene?: string;
  readonly situation?: Situation | undefined;
  /** Memories of the user, one line each. */
  readonly memories?: readonly string[] | undefined;
  /** The client's game, without its actions: what an omni model says cannot be checked before it is heard. */
  readonly around?: Pick<Surroundings, 'facts' | 'reacts'> | undefined;
  /** Parts of the pack that match the last user message by embedding. */
  readonly near?: PackMatches | undefined;
  /** Audio of the last user message, used instead of its text: tone of voice counts too. */
  readonly sound?: OmniAudio | undefined;
}

/** Builds the prompt of a speech-to-speech model: the usual prompt, with the last user message as audio if given. */
export function omniPrompt(character: Character, history: readonly Message[], turn: OmniTurn): OmniMessage[] {
  const { scene = '', situation, sound, memories = [], near, around } = turn;
  const direction = directionFor(character, situation);
  const plain = buildPrompt(character, history, {
    scene: [scene, direction].filter(Boolean).join('\n'),
    recalled: recalledOf(character)(history, near),
    memories,
  });
  const prompt = around === undefined ? plain : withSurroundings(character, plain, { ...around, actions: [] });
  const messages = prompt.flatMap((message): OmniMessage[] =>
    message.role === 'tool' ? [] : [{ role: message.role, text: message.text }],
  );
  const last = messages.at(-1);
  const userMessage = history.at(-1)?.text.trim() ?? '';
  if (sound === undefined || last?.role !== 'user' || !last.text.endsWith(userMessage)) return messages;
  const notes = last.text.slice(0, last.text.length - userMessage.length).trim();
  return [...messages.slice(0, -1), { role: 'user', text: notes, sound }];
}

function directionFor(character: Character, situation: Situation | undefined): string {
  const { greet, unclear } = personaWords(character);
  if (situation === 'greeting') return greet(character.greetings[0]);
  return situation === 'unclear' ? unclear : '';
}
