import type { Message } from '../chat.ts';
import { sceneOf, toolRules } from '../prompting/prompt.ts';
import { atLastUserMessage, directionsIn, talkWindow } from '../prompting/talk-window.ts';

/** Prompt around a conversation that is sent unchanged. */
interface Frame {
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

/** Builds one system message, followed by the conversation. */
export function plainTalk(history: readonly Message[], frame: Frame): Message[] {
  const { instruction, scene = '', hasTools = false, historyTokens, state = '', shotsFor } = frame;
  const { before, userMessage = '', after } = atLastUserMessage(talkWindow(history, historyTokens));
  const parts = [instruction, hasTools ? toolRules : '', sceneOf([scene, ...directionsIn(history)]), state];
  return [
    { role: 'system', text: parts.filter(Boolean).join('\n\n') },
    ...(shotsFor?.(userMessage) ?? []),
    ...(before[0]?.role === 'assistant' ? [{ role: 'user' as const, text: silence }] : []),
    ...before,
    { role: 'user', text: userMessage === '' ? silence : userMessage },
    ...after,
  ];
}
