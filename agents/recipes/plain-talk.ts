import type { Message } from '../chat.ts';
import { sceneOf, toolRules } from '../prompting/prompt.ts';
import { atLastRemark, directionsIn, talkWindow } from '../prompting/talk-window.ts';

/** What stands around a talk that is sent as it is. */
interface Frame {
  /** Who is played, and how. */
  readonly instruction: string;
  readonly scene?: string | undefined;
  readonly hasTools?: boolean | undefined;
  readonly historyTokens: number;
  /** Stands last in the system message: what changes from turn to turn. */
  readonly state?: string;
  /** Exchanges shown as if they had been had, chosen for the last remark. */
  readonly shotsFor?: (remark: string) => readonly Message[];
}

/** Stands for a visitor who says nothing: many templates want the visitor to begin, and to have the last word. */
const silence = '...';

/** One system message, and the talk as it is. */
export function plainTalk(history: readonly Message[], frame: Frame): Message[] {
  const { instruction, scene = '', hasTools = false, historyTokens, state = '', shotsFor } = frame;
  const { before, remark = '', after } = atLastRemark(talkWindow(history, historyTokens));
  const parts = [instruction, hasTools ? toolRules : '', sceneOf([scene, ...directionsIn(history)]), state];
  return [
    { role: 'system', text: parts.filter(Boolean).join('\n\n') },
    ...(shotsFor?.(remark) ?? []),
    ...(before[0]?.role === 'assistant' ? [{ role: 'user' as const, text: silence }] : []),
    ...before,
    { role: 'user', text: remark === '' ? silence : remark },
    ...after,
  ];
}
