import { userSpeaks } from '../../agents/scene/hearing.ts';
import type { WorldChange } from '../../agents/surroundings.ts';
import type { Feelings } from '../../agents/feelings.ts';
import type { Spent } from '../limits/spending.ts';
import type { SecretTerms } from '../protocol/secret-terms.ts';
import { castIdOf } from '../realtime/wire-scene.ts';
import type { WireSession } from '../realtime/wire-session.ts';
import type { SavedState } from '../session/contract/settings.ts';
import { cutToleranceMs } from '../../voices/synthesis/cut-chunk.ts';
import { worldAfter, type SessionWorld } from '../session/history/session-world.ts';
import { Conversation } from '../session/history/conversation.ts';
import type { RepeatedRequest, ReplyRequest, SpokenPhrase } from '../session/contract/events.ts';
import { requestAgain, type CutPhrase } from '../session/output/ended-replies.ts';
import type { Item, MessageItem } from '../session/contract/item.ts';
import { keptPhrases, keptSounds, type JournalLine } from './lines.ts';
import { changeItem } from './items.ts';
import {
  addCue,
  addWords,
  createdIn,
  cutOf,
  cutToHeard,
  dropUnheard,
  lacksEnd,
  messageIn,
  owesReply,
  phraseIn,
} from './unfinished.ts';

type LineOf<Type extends JournalLine['type']> = Extract<JournalLine, { readonly type: Type }>;

/** A reply that a restart has cut. `cut`: set if the client plays all that it has of it, and gets the rest. */
export interface OpenReply {
  readonly replyId: string;
  readonly item: MessageItem | undefined;
  readonly cut: CutPhrase | undefined;
  /** False if the server died before it announced the reply to the client. */
  readonly isAnnounced: boolean;
}

/** An event that was sent to a client, which may not have received it. */
export interface ToldEvent {
  readonly sequence: number;
  readonly event: Readonly<Record<string, unknown>>;
}

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
  /** The terms of that secret, the name under which its spending is counted, and the total when its node died. */
  readonly terms: SecretTerms | undefined;
  readonly account: string | undefined;
  readonly spent: Spent | undefined;
  /** What carried it; undefined: a WebSocket. */
  readonly medium: 'call' | 'phone' | undefined;
  /** Undefined if the client had not changed the session settings. */
  readonly session: WireSession | undefined;
  readonly items: readonly Item[];
  /** Ids of the items from before the client last changed the scene or the character. */
  readonly beforeScene: ReadonlySet<string>;
  /** Feelings of each participant at the end of the last reply; undefined if none of them has replied. */
  readonly feelings: Readonly<Record<string, Feelings>> | undefined;
  /** No frame with a higher sequence number was sent. */
  readonly sequence: number;
  /** Replies without a `response.done`, each with the item it was speaking. */
  readonly openReplies: readonly OpenReply[];
  /** The last message of the client that is not needed again; undefined if the journal does not say. */
  readonly kept: number | undefined;
  /** Later messages that are done all the same. */
  readonly taken: ReadonlySet<number>;
  /** Events that the client had not acknowledged, by the numbers of their frames. */
  readonly told: readonly ToldEvent[];
  /** Ids of utterances that are no items any more: the client sends them again, and they are heard again. */
  readonly unheard: readonly string[];
  /** The world of the client's game; undefined if it has sent none. */
  readonly world: WorldChange | undefined;
  /** Relations of the characters to the user; undefined if nothing has changed them. */
  readonly relations: SavedState['relations'];
  /** Relations to players. */
  readonly relationsWith: SavedState['relationsWith'];
  /** The section of the scene; undefined if none was entered. */
  readonly story: SavedState['story'];
  /** The reply that is made again, or continues. */
  readonly reply: ReplyRequest | undefined;
}

/** Position up to which a client has received a reply. */
export interface ReceivedReply {
  readonly replyId: string;
  readonly receivedMs: number;
}

/**
 * Rebuilds a session from its journal. A reply in progress is cut where the client's copy ends, if the rest can be said
 * sample by sample. Else it is truncated to the reported playback position; without a report, to what must have been
 * played when the last block was sent, `aheadMs` before it was due.
 */
export function restore(
  lines: readonly JournalLine[],
  aheadMs: number,
  received?: ReceivedReply,
): RestoredSession | undefined {
  const open = lines.find((line) => line.type === 'open');
  if (open === undefined) return undefined;
  const found = new Found(open);
  for (const line of lines) if (line.type !== 'open') found.take(line);
  const { conversation, session, spoken, heardMs, kept } = found;
  const unended = received && spoken.size === 0 && lacksEnd(found, received) ? found.lately : undefined;
  const openReplies = [...spoken, ...(unended === undefined ? [] : [unended])].map(([replyId, itemId]) => {
    const item = itemId === undefined ? undefined : messageIn(conversation, itemId);
    const phrased = received?.replyId === replyId ? cutOf(found, received) : undefined;
    // Of a reply that has been made, nothing is made again.
    const isMade = unended !== undefined && phrased?.phrase === found.phrases.get(replyId)?.[0];
    const cut = phrased && isMade ? { ...phrased, isLast: true as const } : phrased;
    const leftMs = cut === undefined ? heardMs.get(replyId) : Math.max(0, cut.receivedMs - cutToleranceMs);
    if (item !== undefined) cutToHeard(conversation, item, leftMs, aheadMs);
    return { replyId, item, cut, isAnnounced: found.announced?.has(replyId) !== false };
  });
  const unheard = kept === undefined ? [] : dropUnheard(conversation);
  const last = openReplies.at(-1);
  const cut = last === undefined ? undefined : requestAgain(found.again.get(last.replyId), last.item, last.cut);
  const owed = last === undefined && owesReply(conversation, session, open) ? { inConversation: true } : undefined;
  const { id, character, model, intent, beta = false, user, owner, bySecret = false, terms, account, medium } = open;
  const { sequence, feelings, beforeScene, taken, told, world, spent } = found;
  const identity = { id, character, model, intent, beta, user, owner, bySecret, terms, account, spent, medium };
  const state = {
    session,
    items: conversation.items,
    beforeScene,
    feelings,
    sequence,
    openReplies,
    world: world?.asChange(),
    relations: found.relations,
    relationsWith: found.relationsWith,
    story: found.story,
  };
  return { ...identity, ...state, kept, taken, told, unheard, reply: unheard.length === 0 ? (cut ?? owed) : undefined };
}

type StateLine = LineOf<'felt' | 'relation' | 'world' | 'section' | 'spent'>;

function isState(line: JournalLine): line is StateLine {
  return ['felt', 'relation', 'world', 'section', 'spent'].includes(line.type);
}

/** State after the lines of a journal, taken one after the other. */
class Found {
  readonly conversation = new Conversation(0);
  /** Replies in progress, each with the id of the item that it is speaking. */
  readonly spoken = new Map<string, string | undefined>();
  readonly heardMs = new Map<string, number>();
  readonly again = new Map<string, RepeatedRequest | undefined>();
  /** The reply that ended last, with its item, unless another has begun or the item has been changed since. */
  lately: readonly [replyId: string, itemId: string | undefined] | undefined;
  /** The last phrases of each of them, latest first. */
  readonly phrases = new Map<string, SpokenPhrase[]>();
  /** Sound of phrases of the reply in progress, latest first, and of the one that ended last. */
  sounds: LineOf<'sound'>[] = [];
  #soundsOfEnded: LineOf<'sound'>[] = [];
  session: WireSession | undefined;
  sequence = 0;
  feelings: RestoredSession['feelings'];
  beforeScene = new Set<string>();
  kept: number | undefined;
  told: ToldEvent[] = [];
  /** Replies that were announced to the client; undefined if the journal does not say. */
  announced: Set<string> | undefined;
  taken = new Set<number>();
  world: SessionWorld | undefined;
  relations: RestoredSession['relations'];
  relationsWith: RestoredSession['relationsWith'];
  story: RestoredSession['story'];
  spent: Spent | undefined;
  readonly #opened: string;
  #castId: string;

  constructor(open: LineOf<'open'>) {
    this.#opened = open.character;
    this.#castId = open.character;
    // A journal of an older version does not say.
    this.kept = (open.version ?? 1) < 2 ? undefined : 0;
  }

  take(line: Exclude<JournalLine, { readonly type: 'open' }>): void {
    if (isState(line)) return this.#takeState(line);
    switch (line.type) {
      case 'session':
        return this.#takeSession(line);
      case 'sequence':
      case 'taken':
      case 'kept':
      case 'told':
        return this.#takeMark(line);
      case 'heard':
        this.heardMs.set(line.replyId, line.heardMs);
        return;
      case 'started':
        this.lately = undefined;
        this.sounds = this.sounds.filter((sound) => !this.#soundsOfEnded.includes(sound));
        this.phrases.delete(line.replyId);
        this.spoken.set(line.replyId, undefined);
        this.again.set(line.replyId, line.again as RepeatedRequest | undefined);
        return;
      case 'speaks':
        this.spoken.set(line.replyId, line.itemId);
        return;
      case 'words':
        return addWords(this.conversation, this.spoken.get(line.replyId), line);
      case 'phrase':
        this.#takePhrase(line);
        return;
      case 'sound':
        this.sounds = [line, ...this.sounds].slice(0, keptSounds);
        return;
      case 'cue':
        return addCue(this.conversation, this.spoken.get(line.replyId), line);
      case 'ended':
        this.lately = [line.replyId, this.spoken.get(line.replyId)];
        this.#soundsOfEnded = this.sounds;
        this.spoken.delete(line.replyId);
        return changeItem(this.conversation, line);
      case 'item':
        return changeItem(this.conversation, line);
      default:
        if (line.type === 'deleted') this.beforeScene.delete(line.itemId);
        if (line.itemId === this.lately?.[1]) this.lately = undefined;
        changeItem(this.conversation, line);
    }
  }

  #takeState(line: StateLine): void {
    if (line.type === 'felt') this.feelings = line.feelings;
    else if (line.type === 'spent') this.spent = line.spent;
    else if (line.type === 'section') this.story = { section: line.section, given: line.given };
    else if (line.type === 'world') this.world = worldAfter(this.world, line.change);
    else {
      const { character, with: speaker = userSpeaks, axis, value } = line;
      const before = speaker === userSpeaks ? this.relations : this.relationsWith?.[speaker];
      const values = { ...before, [character]: { ...before?.[character], [axis]: value } };
      if (speaker === userSpeaks) this.relations = values;
      else this.relationsWith = { ...this.relationsWith, [speaker]: values };
    }
  }

  #takeMark(line: LineOf<'sequence' | 'taken' | 'kept' | 'told'>): void {
    if (line.type === 'sequence') this.sequence = line.upTo;
    else if (line.type === 'taken') this.taken.add(line.sequence);
    else if (line.type === 'kept') {
      this.kept = line.upTo;
      this.taken = new Set([...this.taken].filter((one) => one > line.upTo));
    } else {
      const { sequence, event } = line;
      this.told = [...this.told.filter((one) => one.sequence > line.acknowledged), { sequence, event }];
      this.announced ??= new Set();
      this.announced.add(createdIn(event) ?? '');
    }
  }

  #takePhrase(line: LineOf<'phrase'>): void {
    if (!this.spoken.has(line.replyId)) return;
    const phrases = [phraseIn(line), ...(this.phrases.get(line.replyId) ?? [])];
    this.phrases.set(line.replyId, phrases.slice(0, keptPhrases));
  }

  #takeSession(line: LineOf<'session'>): void {
    const session = line.session as unknown as WireSession;
    const castId = castIdOf(session, this.#opened);
    if (castId !== this.#castId) {
      this.beforeScene = new Set(this.conversation.items.map((item) => item.id));
      this.feelings = undefined;
      this.story = undefined;
    }
    if (line.before !== undefined) this.beforeScene = new Set(line.before);
    this.#castId = castId;
    this.session = session;
  }
}
