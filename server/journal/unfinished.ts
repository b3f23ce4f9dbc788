import type { WireSession } from '../realtime/wire-session.ts';
import { soundToHear, type Item, type MessageItem } from '../session/contract/item.ts';
import type { Conversation } from '../session/history/conversation.ts';
import type { JournalLine } from './lines.ts';
import type { ReceivedReply } from './restore.ts';
import { cutToleranceMs } from '../../voices/synthesis/cut-chunk.ts';
import type { SpokenPhrase } from '../session/contract/events.ts';
import type { CutPhrase } from '../session/output/ended-replies.ts';

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

/** State of the replies in a journal. */
interface FoundReply {
  readonly conversation: Conversation;
  readonly lately: readonly [replyId: string, itemId: string | undefined] | undefined;
  readonly phrases: ReadonlyMap<string, readonly SpokenPhrase[]>;
  readonly sounds: readonly Line<'sound'>[];
}

/** Returns where a reply is cut, if the phrase is known in which the client's copy ends. */
export function cutOf({ phrases, sounds }: FoundReply, { replyId, receivedMs }: ReceivedReply): CutPhrase | undefined {
  const phrase = phrases.get(replyId)?.find(({ fromMs }) => receivedMs > fromMs - cutToleranceMs);
  if (phrase?.needsSound !== true) return phrase && { phrase, receivedMs };
  const sound = sounds.find(({ text, before }) => text === phrase.text && before === phrase.before);
  return sound && { phrase, receivedMs, sound };
}

/** Returns whether a client has not got all of the reply that ended last, which called no function. */
export function lacksEnd(
  { lately, conversation, phrases }: FoundReply,
  { replyId, receivedMs }: ReceivedReply,
): boolean {
  if (lately?.[0] !== replyId || !phrases.has(replyId)) return false;
  const at = conversation.items.findIndex(({ id }) => id === lately[1]);
  const item = conversation.items[at];
  const part = item?.type === 'message' ? item.content[0] : undefined;
  const hasCalled = conversation.items.slice(at + 1).some(({ type }) => type === 'call');
  return part?.type === 'audio' && receivedMs < part.durationMs - 1 && !hasCalled;
}

export function phraseIn({ text, emotion, intensity, before, fromMs, needsSound }: Line<'phrase'>): SpokenPhrase {
  return {
    text,
    ...(emotion === undefined ? {} : { emotion }),
    ...(intensity === undefined ? {} : { intensity }),
    before,
    fromMs,
    ...(needsSound === undefined ? {} : { needsSound }),
  };
}
