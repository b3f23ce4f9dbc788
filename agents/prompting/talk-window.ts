import type { Message } from '../chat.ts';
import { withoutNotesTags } from './persona-words.ts';
import { estimateTokens } from '../llm/token-estimate.ts';

/** Default limit of the conversation in a prompt, in estimated tokens. */
export const usualHistoryTokens = 1_500;

/** Estimated tokens of a prompt. */
export function estimatePrompt(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + costOf(message), 0);
}

/** Splits at the last user message if that is still being answered: only tool calls and outputs, if any, follow it. */
export function atLastUserMessage(talk: readonly Message[]): {
  readonly before: readonly Message[];
  readonly userMessage?: string;
  readonly after: readonly Message[];
} {
  const last = talk.at(-1);
  const at = talk.findLastIndex((message) => message.role === 'user');
  if (last === undefined || last.role === 'assistant' || at < 0) return { before: talk, after: [] };
  return { before: talk.slice(0, at), userMessage: talk[at]?.text ?? '', after: talk.slice(at + 1) };
}

/** Directions of the application (system messages), in the order given. */
export function directionsIn(history: readonly Message[]): string[] {
  return history.filter((message) => message.role === 'system').map((message) => message.text);
}

/** The latest part of a conversation within the budget: neighbours of one role merged, no system messages. */
export function talkWindow(history: readonly Message[], budgetTokens: number): readonly Message[] {
  return newest(alternating(history.filter((message) => message.role !== 'system')), budgetTokens);
}

/** Merges neighbours of one role and strips notes tags from their text. Each call keeps its own output. */
function alternating(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const text = withoutNotesTags(message.text).trim();
    const last = merged.at(-1);
    if (last?.role === message.role && message.role !== 'tool' && !('calls' in last)) {
      merged[merged.length - 1] = { ...message, text: [last.text, text].filter(Boolean).join('\n') };
    } else if (text !== '' || message.role === 'tool' || 'calls' in message) merged.push({ ...message, text });
  }
  return merged;
}

/** The last message with the calls before it, and as many as the budget allows; never an output without its call. */
function newest(messages: readonly Message[], budgetTokens: number): readonly Message[] {
  const last = messages.length - 1;
  let from = messages[last]?.role === 'tool' ? messages.findLastIndex((message) => message.role === 'user') : last;
  let spentTokens = estimatePrompt(messages.slice(Math.max(0, from)));
  for (; from > 0; from -= 1) {
    spentTokens += costOf(messages[from - 1]);
    if (spentTokens > budgetTokens) break;
  }
  while (messages[from]?.role === 'tool') from += 1;
  return messages.slice(Math.max(0, from));
}

function costOf(message: Message | undefined): number {
  const calls = message?.role === 'assistant' ? (message.calls ?? []) : [];
  return estimateTokens(`${message?.text ?? ''}${calls.map((call) => call.name + call.arguments).join('')}`);
}
