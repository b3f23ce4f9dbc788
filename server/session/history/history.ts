import type { Message } from '../../../agents/chat.ts';
import { textOf, type CallItem, type Item, type MessageItem } from '../contract/item.ts';

const noResultYet = 'There is no result yet.';

/**
 * Builds the history for the LLM: oldest first, without messages that have no words. A tool call stands directly before
 * its result, wherever the result came. A call without a result says so, so that the model does not call again; a
 * result without its call is left out.
 */
export function messagesOf(items: readonly Item[]): Message[] {
  const outputs = new Map(items.flatMap((item) => (item.type === 'call-output' ? [[item.callId, item.output]] : [])));
  const messages: Message[] = [];
  let calls: CallItem[] = [];
  const closeCalls = (): void => {
    if (calls.length > 0) messages.push(...answered(calls, outputs));
    calls = [];
  };
  for (const item of items) {
    // Adjacent calls were made at once.
    if (item.type === 'call') calls.push(item);
    else if (item.type !== 'opaque') closeCalls();
    if (item.type !== 'message') continue;
    const text = textOf(item);
    if (text === '') continue;
    if (item.role !== 'assistant' || item.speaker === undefined) messages.push({ role: item.role, text });
    else messages.push({ role: 'assistant', name: item.speaker.name, text: withActions(item, text) });
  }
  closeCalls();
  return messages;
}

/** Puts actions, which others saw, before the words, which they heard. */
function withActions({ cues = [] }: MessageItem, text: string): string {
  const actions = cues.filter(({ kind }) => kind === 'action').map((cue) => `(${cue.text})`);
  return [...actions, text].join(' ');
}

function answered(calls: readonly CallItem[], outputs: ReadonlyMap<string, string>): Message[] {
  return [
    {
      role: 'assistant',
      text: '',
      calls: calls.map(({ callId, name, arguments: text }) => ({ callId, name, arguments: text })),
    },
    ...calls.map(({ callId }): Message => ({ role: 'tool', callId, text: outputs.get(callId) ?? noResultYet })),
  ];
}
