import { graspOf } from '../../agents/scene/hearing.ts';
import { factsIn } from '../../agents/memory/facts.ts';
import { sceneModel } from '../../characters/scene.ts';
import type { Conversation } from '../session/history/conversation.ts';
import { textOf, type Item, type MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import type { MemoryKey, Turn } from './store/record.ts';
import type { AsyncStore } from './store/operations.ts';

interface KeptTurn {
  readonly asked: readonly MessageItem[];
  readonly answered: MessageItem | undefined;
  readonly item: string;
  readonly atMs: number;
  /** Content last written to the store. */
  written: string;
  isKept: boolean;
}

export interface TurnRecorderParts {
  readonly store: Pick<AsyncStore, 'record'>;
  readonly bond: MemoryKey;
  readonly session: string;
  readonly conversation: Pick<Conversation, 'get' | 'items'>;
  /** In a resumed session, the unfinished replies of the previous process; absent if others spoke, or unnamed. */
  readonly openReplies?: readonly MessageItem[] | undefined;
  /** Id of the player whose words these are; absent: the user, if there is one alone. */
  readonly speaker?: string | undefined;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Called, without content, if a write failed. Failed writes are retried. */
  readonly onFault: (fault: unknown) => void;
  /** Called for each turn that was written for the first time. */
  readonly onTurn?: () => void;
}

/** Latest turns for which the client may still report how much was heard; see `session/ended-replies.ts`. */
const openTurns = 8;
/** Text stored for each side of a turn, in characters: five minutes of speech. */
const mostCharacters = 4_000;
/** Streaming events, which change no turn. */
const passing: ReadonlySet<SessionEvent['type']> = new Set(['reply-audio', 'reply-text']);

/**
 * Writes the turns of a session as they were heard, each event before the client gets it: no client learns of the end
 * of a turn that is not stored. Later changes are written with the next event.
 */
export class TurnRecorder {
  readonly #parts: TurnRecorderParts;
  readonly #turns: KeptTurn[] = [];
  readonly #known = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #unkept = 0;

  constructor(parts: TurnRecorderParts) {
    this.#parts = parts;
    const { conversation, openReplies } = parts;
    // Nothing said before the user was named is stored; in a resumed session, finished turns are already stored.
    const isKept = (item: Item): boolean =>
      (openReplies ?? []).every(({ id }) => id !== item.id) &&
      (openReplies === undefined || (item.type === 'message' && item.role === 'assistant'));
    for (const item of conversation.items.slice(0, conversation.items.findLastIndex(isKept) + 1))
      this.#known.add(item.id);
    for (const reply of openReplies ?? []) this.#endTurn(reply);
  }

  /**
   * Writes what an event changes. Settles when everything possible is written; undefined if there is nothing to write.
   * Items from while other characters are `onStage` never become turns of this character.
   */
  note(event: SessionEvent, onStage = false): Promise<void> | undefined {
    if (passing.has(event.type)) return undefined;
    if (onStage) for (const { id } of this.#parts.conversation.items) this.#known.add(id);
    else if (event.type === 'reply-ended' && event.item !== undefined) this.#endTurn(event.item);
    const latest = this.#turns.length - openTurns;
    return this.#settle(
      this.#turns.filter((turn, place) => place >= latest || !turn.isKept || event.type === 'item-deleted'),
    );
  }

  /** Ends the session: stores unanswered user messages as well. */
  async close(): Promise<void> {
    this.#endTurn(undefined);
    await this.#settle(this.#turns);
  }

  /** Number of turns that could not be stored yet. */
  get unkept(): number {
    return this.#unkept;
  }

  /** Writes what could not be stored before. */
  async retry(): Promise<void> {
    await this.#settle(this.#turns);
  }

  #endTurn(answered: MessageItem | undefined): void {
    const { conversation, now } = this.#parts;
    const isSide = answered !== undefined && conversation.get(answered.id) === undefined;
    if (isSide) return;
    const until = answered === undefined ? conversation.items.length : conversation.items.indexOf(answered);
    const asked = conversation.items.slice(0, until).filter((item) => this.#isNewMessage(item)) as MessageItem[];
    // A reply to another player is none of this one's turns.
    const last = conversation.items.slice(0, until).findLast((one) => one.type === 'message' && one.role === 'user');
    const isOthers = last?.type === 'message' && last.speaker?.id !== this.#parts.speaker;
    if (asked.length === 0 && (isOthers || (last === undefined && this.#parts.speaker !== undefined))) return;
    const item = asked[0]?.id ?? answered?.id;
    if (item === undefined) return;
    for (const each of [...asked, ...(answered === undefined ? [] : [answered])]) this.#known.add(each.id);
    this.#turns.push({ asked, answered, item, atMs: now(), written: '', isKept: false });
  }

  #isNewMessage(item: Item): boolean {
    if (item.type !== 'message' || item.role !== 'user' || this.#known.has(item.id)) return false;
    if (!this.#isHeard(item) || item.speaker?.id !== this.#parts.speaker) return false;
    // The transcript of a user message may arrive after the reply.
    return textOf(item) !== '' || item.content.some((part) => part.type === 'audio' && part.transcript === null);
  }

  /** A scene has one memory for all of its characters: it holds what every one of them has made out. */
  #isHeard({ heardBy }: MessageItem): boolean {
    const { character } = this.#parts.bond;
    if (heardBy === undefined) return true;
    return !character.startsWith(sceneModel('')) && graspOf(heardBy, character) === 'words';
  }

  #settle(turns: readonly KeptTurn[]): Promise<void> | undefined {
    const changed = turns.filter((turn) => wordsOf(this.#standing(turn)) !== turn.written);
    if (changed.length === 0) return undefined;
    // One write after the other: a retry may meet the next event.
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(changed));
    return this.#writing;
  }

  async #write(turns: readonly KeptTurn[]): Promise<void> {
    const { session, store, bond, onFault, onTurn } = this.#parts;
    for (const [index, turn] of turns.entries()) {
      const stands = this.#standing(turn);
      if (wordsOf(stands) === turn.written) continue;
      const kept: Turn = { session, item: turn.item, ...stands, isKnown: turn.isKept };
      try {
        await store.record(bond, kept, factsIn(stands.asked), turn.atMs);
      } catch (fault) {
        this.#unkept = turns.length - index;
        onFault(fault);
        return;
      }
      const isNew = !turn.isKept;
      turn.written = wordsOf(stands);
      turn.isKept = true;
      if (isNew) onTurn?.();
    }
    this.#unkept = 0;
  }

  #standing({ asked, answered }: KeptTurn): Words {
    const said = asked.map((item) => this.#textOf(item)).filter(Boolean);
    const answer = answered === undefined || !this.#isHeard(answered) ? '' : this.#textOf(answered);
    return { asked: said.join('\n').slice(0, mostCharacters), answered: answer.slice(0, mostCharacters) };
  }

  /** Returns the text of an item; empty if it was deleted. */
  #textOf(item: MessageItem): string {
    return this.#parts.conversation.get(item.id) === undefined ? '' : textOf(item);
  }
}

type Words = Pick<Turn, 'asked' | 'answered'>;

function wordsOf({ asked, answered }: Words): string {
  return asked === '' && answered === '' ? '' : JSON.stringify([asked, answered]);
}
