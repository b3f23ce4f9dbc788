import type { Message } from '../../../agents/chat.ts';
import { textOf, type CallItem, type Item, type MessageItem } from './conversation.ts';

const noResultYet = 'There is no result yet.';

/**
 * The history a mind is given: oldest first, messages without words left out. A call stands together with what it brought
 * back, wherever that came. Of a call that has brought back nothing yet it says so, lest the mind calls again; output without
 * its call is left out.
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
    // Calls that stand side by side were made at once.
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

/** What others saw goes before what they heard. */
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
