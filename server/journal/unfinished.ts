import type { WireSession } from '../realtime/wire-session.ts';
import { soundToHear, type Item, type MessageItem } from '../session/contract/item.ts';
import type { Conversation } from '../session/history/conversation.ts';
import type { JournalLine } from './lines.ts';

type Line<Type extends JournalLine['type']> = Extract<JournalLine, { readonly type: Type }>;

/** Removes the utterances from the first one without a transcript on: the client still has their audio. */
export function dropUnheard(conversation: Conversation): string[] {
  const isSpeech = (item: Item): boolean =>
    item.type === 'message' && item.role === 'user' && item.content.some(({ type }) => type === 'audio');
  const first = conversation.items.findIndex((item) => soundToHear(item) !== undefined);
  const ids =
    first < 0
      ? []
      : conversation.items
          .slice(first)
          .filter(isSpeech)
          .map(({ id }) => id);
  for (const id of ids) conversation.delete(id);
  return ids;
}

/** Returns true if the conversation ends with speech of the user that was to be answered. */
export function owesReply({ items }: Conversation, session: WireSession | undefined, open: Line<'open'>): boolean {
  const last = items.at(-1);
  if (last?.type !== 'message' || last.role !== 'user' || open.intent !== undefined) return false;
  const { audio } = (session ?? {}) as Partial<WireSession>;
  const detection = audio === undefined ? {} : (audio.input.turn_detection ?? { create_response: false });
  const isAnswered = !('create_response' in detection) || detection.create_response !== false;
  return isAnswered && last.content.some((part) => part.type === 'audio' && (part.transcript ?? '') !== '');
}

/** Cuts a reply to what was heard of it, or else to what must have been played. */
export function cutToHeard(
  conversation: Conversation,
  item: MessageItem,
  heardMs: number | undefined,
  aheadMs: number,
): void {
  item.status = 'incomplete';
  const part = item.content[0];
  if (part?.type !== 'audio') return;
  conversation.truncate(item, heardMs ?? Math.max(0, part.durationMs - aheadMs));
}

export function addWords(conversation: Conversation, itemId: string | undefined, line: Line<'words'>): void {
  const part = itemId === undefined ? undefined : messageIn(conversation, itemId)?.content[0];
  if (part?.type === 'text') part.text += line.text;
  if (part?.type !== 'audio') return;
  part.transcript = (part.transcript ?? '') + line.text;
  part.words.push(...line.words);
  part.durationMs = line.words.at(-1)?.endMs ?? part.durationMs;
}

export function addCue(conversation: Conversation, itemId: string | undefined, { cue }: Line<'cue'>): void {
  const item = itemId === undefined ? undefined : messageIn(conversation, itemId);
  if (item !== undefined) item.cues = [...(item.cues ?? []), cue];
}

export function messageIn(conversation: Conversation, id: string): MessageItem | undefined {
  const item = conversation.get(id);
  return item?.type === 'message' ? item : undefined;
}

/** Returns the id of the reply that an event mentions first. */
export function createdIn({ type, response }: Readonly<Record<string, unknown>>): string | undefined {
  const { id } = Object(response) as { readonly id?: unknown };
  return type === 'response.created' && typeof id === 'string' ? id : undefined;
}
