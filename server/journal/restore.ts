import { sceneModel } from '../../characters/scene.ts';
import { sceneIdOf } from '../realtime/wire-scene.ts';
import type { WireSession } from '../realtime/wire-session.ts';
import { Conversation } from '../session/history/conversation.ts';
import type { Item, MessageItem } from '../session/contract/item.ts';
import type { JournalLine, KeptItem, KeptMessage } from './journal.ts';

/** A session in the state it had when its server died. */
export interface RestoredSession {
  readonly id: string;
  readonly character: string;
  readonly model: string;
  /** `transcription`: the session only transcribes. */
  readonly intent: 'transcription' | undefined;
  /** The client speaks the pre-GA dialect. */
  readonly beta: boolean;
  /** The user that the character remembers, if the client named one when it opened the session. */
  readonly user: string | undefined;
  /** Undefined if the client had not changed the session settings. */
  readonly session: WireSession | undefined;
  readonly items: readonly Item[];
  /** Ids of the items from before the client last entered or left a scene. */
  readonly beforeScene: ReadonlySet<string>;
  /** No frame with a higher sequence number was sent. */
  readonly sequence: number;
  /** Replies without a `response.done`, each with the item it was speaking. */
  readonly openReplies: readonly { readonly replyId: string; readonly item: MessageItem | undefined }[];
}

/**
 * Rebuilds a session from its journal. A reply in progress is truncated to what was heard: the playback position that
 * the client last reported. Without a report, the position is what must have been played when the last block was sent,
 * which was `aheadMs` before it was due.
 */
export function restore(lines: readonly JournalLine[], aheadMs: number): RestoredSession | undefined {
  const open = lines.find((line) => line.type === 'open');
  if (open === undefined) return undefined;
  const conversation = new Conversation(0);
  const spoken = new Map<string, string | undefined>();
  const heardMs = new Map<string, number>();
  let session: WireSession | undefined;
  let sequence = 0;
  let sceneId = open.character.startsWith(sceneModel('')) ? open.character.slice(sceneModel('').length) : null;
  let before: ReadonlySet<string> = new Set<string>();
  for (const line of lines) {
    if (line.type === 'session') {
      const next = line.session as unknown as WireSession;
      if (sceneIdOf(next) !== sceneId) before = new Set(conversation.items.map((item) => item.id));
      sceneId = sceneIdOf(next);
      session = next;
    } else if (line.type === 'sequence') sequence = line.upTo;
    else if (line.type === 'heard') heardMs.set(line.replyId, line.heardMs);
    else if (line.type === 'started') spoken.set(line.replyId, undefined);
    else if (line.type === 'speaks') spoken.set(line.replyId, line.itemId);
    else if (line.type === 'words') addWords(conversation, spoken.get(line.replyId), line);
    else if (line.type === 'cue') addCue(conversation, spoken.get(line.replyId), line);
    else if (line.type !== 'open') change(conversation, spoken, line);
  }
  const openReplies = [...spoken].map(([replyId, itemId]) => {
    const item = itemId === undefined ? undefined : messageIn(conversation, itemId);
    if (item !== undefined) cutToHeard(conversation, item, heardMs.get(replyId), aheadMs);
    return { replyId, item };
  });
  const { id, character, model, intent, beta = false, user } = open;
  return {
    id,
    character,
    model,
    intent,
    beta,
    user,
    session,
    items: conversation.items,
    beforeScene: before,
    sequence,
    openReplies,
  };
}

function change(
  conversation: Conversation,
  spoken: Map<string, string | undefined>,
  line: Extract<JournalLine, { type: 'item' | 'transcript' | 'truncated' | 'deleted' | 'ended' }>,
): void {
  if (line.type === 'item') {
    const after = line.after === null ? 'root' : line.after;
    const known = after === 'root' || conversation.get(after) !== undefined;
    conversation.insert(itemOf(line.item), known ? after : undefined);
    return;
  }
  if (line.type === 'ended') {
    spoken.delete(line.replyId);
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

function addWords(
  conversation: Conversation,
  itemId: string | undefined,
  line: Extract<JournalLine, { type: 'words' }>,
): void {
  const part = itemId === undefined ? undefined : messageIn(conversation, itemId)?.content[0];
  if (part?.type === 'text') part.text += line.text;
  if (part?.type !== 'audio') return;
  part.transcript = (part.transcript ?? '') + line.text;
  part.words.push(...line.words);
  part.durationMs = line.words.at(-1)?.endMs ?? part.durationMs;
}

function addCue(
  conversation: Conversation,
  itemId: string | undefined,
  { cue }: Extract<JournalLine, { type: 'cue' }>,
): void {
  const item = itemId === undefined ? undefined : messageIn(conversation, itemId);
  if (item !== undefined) item.cues = [...(item.cues ?? []), cue];
}

function cutToHeard(conversation: Conversation, item: MessageItem, heardMs: number | undefined, aheadMs: number): void {
  item.status = 'incomplete';
  const part = item.content[0];
  if (part?.type !== 'audio') return;
  conversation.truncate(item, heardMs ?? Math.max(0, part.durationMs - aheadMs));
}

function messageIn(conversation: Conversation, id: string): MessageItem | undefined {
  const item = conversation.get(id);
  return item?.type === 'message' ? item : undefined;
}

function itemOf(keptItem: KeptItem): Item {
  if (keptItem.type !== 'message') return keptItem;
  const { id, type, role, status, emotion, speaker, cues } = keptItem;
  const about = {
    ...(emotion === undefined ? {} : { emotion }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(cues === undefined ? {} : { cues }),
  };
  return { id, type, role, status, ...about, content: contentOf(keptItem) };
}

function contentOf(keptItem: KeptMessage): MessageItem['content'] {
  return keptItem.content.map((part) => (part.type === 'audio' ? { ...part, audio: [] } : { ...part }));
}
