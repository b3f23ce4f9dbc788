import type { Conversation } from '../session/history/conversation.ts';
import type { Item, MessageItem } from '../session/contract/item.ts';
import type { JournalLine, KeptItem, KeptMessage } from './lines.ts';
import { messageIn } from './unfinished.ts';

type LineOf<Type extends JournalLine['type']> = Extract<JournalLine, { readonly type: Type }>;

/** Carries out a line about an item, in the conversation that the lines before have made. */
export function changeItem(
  conversation: Conversation,
  line: LineOf<'item' | 'transcript' | 'truncated' | 'deleted' | 'ended'>,
): void {
  if (line.type === 'item') {
    const after = line.after === null ? 'root' : line.after;
    const known = after === 'root' || conversation.get(after) !== undefined;
    conversation.insert(itemOf(line.item), known ? after : undefined);
    return;
  }
  if (line.type === 'ended') {
    const item = line.item === undefined ? undefined : messageIn(conversation, line.item.id);
    if (item === undefined || line.item === undefined) return;
    item.status = line.item.status;
    if (line.item.cues !== undefined) item.cues = line.item.cues;
    item.content.splice(0, item.content.length, ...contentOf(line.item));
    return;
  }
  const item = conversation.get(line.itemId);
  if (item === undefined) return;
  if (line.type === 'deleted') conversation.delete(item.id);
  else if (item.type !== 'message') return;
  else if (line.type === 'truncated') conversation.truncate(item, line.heardMs, line.contentIndex);
  else {
    const part = item.content.find((one) => one.type === 'audio');
    if (part !== undefined) part.transcript = line.text;
  }
}

function itemOf(keptItem: KeptItem): Item {
  if (keptItem.type !== 'message') return keptItem;
  const { id, type, role, status, emotion, intensity, speaker, heardBy, cues } = keptItem;
  const about = {
    ...(emotion === undefined ? {} : { emotion }),
    ...(intensity === undefined ? {} : { intensity }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(heardBy === undefined ? {} : { heardBy }),
    ...(cues === undefined ? {} : { cues }),
  };
  return { id, type, role, status, ...about, content: contentOf(keptItem) };
}

function contentOf(keptItem: KeptMessage): MessageItem['content'] {
  return keptItem.content.map((part) => (part.type === 'audio' ? { ...part, audio: [] } : { ...part }));
}
