import type { Character } from '../../characters/character.ts';
import type { Message } from '../chat.ts';
import { personaWords } from '../prompting/persona-words.ts';
import { sceneOf } from '../prompting/prompt.ts';
import { atLastUserMessage, directionsIn, talkWindow } from '../prompting/talk-window.ts';

/** Prompt around a conversation that is sent unchanged. */
interface Frame {
  readonly character: Character;
  /** The role, and how to play it. */
  readonly instruction: string;
  readonly scene?: string | undefined;
  readonly hasTools?: boolean | undefined;
  readonly historyTokens: number;
  /** Text that changes from turn to turn; last in the system message. */
  readonly state?: string;
  /** Example exchanges for the last user message, sent as earlier turns. */
  readonly shotsFor?: (userMessage: string) => readonly Message[];
}

/** Stands for a silent user: many chat templates require the user to begin and to have the last message. */
const silence = '...';
/** The conversation with a preface in its first user message: many chat templates require strict alternation. */
export function withPreface(preface: string, before: readonly Message[], userMessage: string): Message[] {
  const talk: readonly Message[] = [...before, { role: 'user', text: userMessage }];
  const [first, ...rest] = talk;
  return first?.role === 'user'
    ? [{ role: 'user', text: `${preface}\n\n${first.text}` }, ...rest]
    : [{ role: 'user', text: preface }, ...talk];
}

/** Builds one system message, followed by the conversation. */
export function plainTalk(history: readonly Message[], frame: Frame): Message[] {
  const { character, instruction, scene = '', hasTools = false, historyTokens, state = '', shotsFor } = frame;
  const { before, userMessage = '', after } = atLastUserMessage(talkWindow(history, historyTokens));
  const functions = hasTools ? personaWords(character).functions : '';
  const parts = [instruction, functions, sceneOf([scene, ...directionsIn(history)]), state];
  return [
    { role: 'system', text: parts.filter(Boolean).join('\n\n') },
    ...(shotsFor?.(userMessage) ?? []),
    ...(before[0]?.role === 'assistant' ? [{ role: 'user' as const, text: silence }] : []),
    ...before,
    { role: 'user', text: userMessage === '' ? silence : userMessage },
    ...after,
  ];
}
