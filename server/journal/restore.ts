import type { Feelings } from '../../agents/feelings.ts';
import { sceneModel } from '../../characters/scene.ts';
import { sceneIdOf } from '../realtime/wire-scene.ts';
import type { WireSession } from '../realtime/wire-session.ts';
import { Conversation } from '../session/history/conversation.ts';
import type { RepeatedRequest, ReplyRequest } from '../session/contract/events.ts';
import { requestAgain } from '../session/output/repeated-reply.ts';
import { soundToHear, type Item, type MessageItem } from '../session/contract/item.ts';
import type { JournalLine, KeptItem, KeptMessage } from './lines.ts';

type LineOf<Type extends JournalLine['type']> = Extract<JournalLine, { readonly type: Type }>;

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
  /** The account that it was opened for; undefined if the server needed no keys. */
  readonly owner: string | undefined;
  /** It was opened with a client secret. */
  readonly bySecret: boolean;
  /** Undefined if the client had not changed the session settings. */
  readonly session: WireSession | undefined;
  readonly items: readonly Item[];
  /** Ids of the items from before the client last entered or left a scene. */
  readonly beforeScene: ReadonlySet<string>;
  /** Feelings of each participant at the end of the last reply; undefined if none of them has replied. */
  readonly feelings: Readonly<Record<string, Feelings>> | undefined;
  /** No frame with a higher sequence number was sent. */
  readonly sequence: number;
  /** Replies without a `response.done`, each with the item it was speaking. */
  readonly openReplies: readonly { readonly replyId: string; readonly item: MessageItem | undefined }[];
  /** The last message of the client that is not needed again; undefined if the journal does not say. */
  readonly kept: number | undefined;
  /** Later messages that are done all the same. */
  readonly taken: ReadonlySet<number>;
  /** Ids of utterances that are no items any more: the client sends them again, and they are heard again. */
  readonly unheard: readonly string[];
  /** The reply that is made again, or goes on. */
  readonly reply: ReplyRequest | undefined;
}

/**
 * Rebuilds a session from its journal. A reply in progress is truncated to the reported playback position; without a
 * report, to what must have been played when the last block was sent, `aheadMs` before it was due.
 */
export function restore(lines: readonly JournalLine[], aheadMs: number): RestoredSession | undefined {
  const open = lines.find((line) => line.type === 'open');
  if (open === undefined) return undefined;
  const found = new Found(open);
  for (const line of lines) found.take(line);
  const { conversation, session, spoken, heardMs, kept } = found;
  const openReplies = [...spoken].map(([replyId, itemId]) => {
    const item = itemId === undefined ? undefined : messageIn(conversation, itemId);
    if (item !== undefined) cutToHeard(conversation, item, heardMs.get(replyId), aheadMs);
    return { replyId, item };
  });
  const unheard = kept === undefined ? [] : dropUnheard(conversation);
  const last = openReplies.at(-1);
  const cut = last === undefined ? undefined : requestAgain(found.again.get(last.replyId), last.item);
  const owed = last === undefined && owesReply(conversation, session, open) ? { inConversation: true } : undefined;
  const { id, character, model, intent, beta = false, user, owner, bySecret = false } = open;
  const { sequence, feelings, beforeScene, taken } = found;
  const identity = { id, character, model, intent, beta, user, owner, bySecret };
  const state = { session, items: conversation.items, beforeScene, feelings, sequence, openReplies };
  return { ...identity, ...state, kept, taken, unheard, reply: unheard.length === 0 ? (cut ?? owed) : undefined };
}

/** State after the lines of a journal, taken one after the other. */
class Found {
  readonly conversation = new Conversation(0);
  /** Replies in progress, each with the id of the item that it is speaking. */
  readonly spoken = new Map<string, string | undefined>();
  readonly heardMs = new Map<string, number>();
  readonly again = new Map<string, RepeatedRequest | undefined>();
  session: WireSession | undefined;
  sequence = 0;
  feelings: RestoredSession['feelings'];
  beforeScene = new Set<string>();
  kept: number | undefined;
  taken = new Set<number>();
  #sceneId: string | null;

  constructor(open: LineOf<'open'>) {
    const scene = sceneModel('');
    this.#sceneId = open.character.startsWith(scene) ? open.character.slice(scene.length) : null;
    // A journal of an older version does not say.
    this.kept = (open.version ?? 1) < 2 ? undefined : 0;
  }

  take(line: JournalLine): void {
    switch (line.type) {
      case 'open':
        return;
      case 'session':
        return this.#takeSession(line);
      case 'sequence':
        this.sequence = line.upTo;
        return;
      case 'taken':
        this.taken.add(line.sequence);
        return;
      case 'kept':
        this.kept = line.upTo;
        this.taken = new Set([...this.taken].filter((one) => one > line.upTo));
        return;
      case 'felt':
        this.feelings = line.feelings;
        return;
      case 'heard':
        this.heardMs.set(line.replyId, line.heardMs);
        return;
      case 'started':
        this.spoken.set(line.replyId, undefined);
        this.again.set(line.replyId, line.again as RepeatedRequest | undefined);
        return;
      case 'speaks':
        this.spoken.set(line.replyId, line.itemId);
        return;
      case 'words':
        return addWords(this.conversation, this.spoken.get(line.replyId), line);
      case 'cue':
        return addCue(this.conversation, this.spoken.get(line.replyId), line);
      case 'deleted':
        this.beforeScene.delete(line.itemId);
        return change(this.conversation, this.spoken, line);
      default:
        change(this.conversation, this.spoken, line);
    }
  }

  #takeSession(line: LineOf<'session'>): void {
    const session = line.session as unknown as WireSession;
    const sceneId = sceneIdOf(session);
    if (sceneId !== this.#sceneId) {
      this.beforeScene = new Set(this.conversation.items.map((item) => item.id));
      this.feelings = undefined;
    }
    if (line.before !== undefined) this.beforeScene = new Set(line.before);
    this.#sceneId = sceneId;
    this.session = session;
  }
}

/** Removes the utterances from the first one without a transcript on: the client still has their audio. */
function dropUnheard(conversation: Conversation): string[] {
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
function owesReply({ items }: Conversation, session: WireSession | undefined, open: LineOf<'open'>): boolean {
  const last = items.at(-1);
  if (last?.type !== 'message' || last.role !== 'user' || open.intent !== undefined) return false;
  const { audio } = (session ?? {}) as Partial<WireSession>;
  const detection = audio === undefined ? {} : (audio.input.turn_detection ?? { create_response: false });
  const isAnswered = !('create_response' in detection) || detection.create_response !== false;
  return isAnswered && last.content.some((part) => part.type === 'audio' && (part.transcript ?? '') !== '');
}

function change(
  conversation: Conversation,
  spoken: Map<string, string | undefined>,
  line: LineOf<'item' | 'transcript' | 'truncated' | 'deleted' | 'ended'>,
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

function addWords(conversation: Conversation, itemId: string | undefined, line: LineOf<'words'>): void {
  const part = itemId === undefined ? undefined : messageIn(conversation, itemId)?.content[0];
  if (part?.type === 'text') part.text += line.text;
  if (part?.type !== 'audio') return;
  part.transcript = (part.transcript ?? '') + line.text;
  part.words.push(...line.words);
  part.durationMs = line.words.at(-1)?.endMs ?? part.durationMs;
}

function addCue(conversation: Conversation, itemId: string | undefined, { cue }: LineOf<'cue'>): void {
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
