import { factsIn } from '../../agents/memory/facts.ts';
import { textOf, type Conversation, type Item, type MessageItem } from '../session/conversation.ts';
import type { SessionEvent } from '../session/events.ts';
import type { Bond, Turn } from './record.ts';
import type { MemoryStore } from './store.ts';

/** What one turn is made of, as far as it is known. */
interface KeptTurn {
  readonly asked: readonly MessageItem[];
  readonly answered: MessageItem | undefined;
  readonly item: string;
  readonly atMs: number;
  /** As it stands in the store. */
  written: string;
  isKept: boolean;
}

export interface KeeperParts {
  readonly store: Pick<MemoryStore, 'record'>;
  readonly bond: Bond;
  readonly session: string;
  readonly conversation: Pick<Conversation, 'get' | 'items'>;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Told that the store could not be written, without content. What could not be written is tried again. */
  readonly onFault: (fault: unknown) => void;
  /** Told of each turn that was written for the first time. */
  readonly onTurn?: () => void;
}

/** Turns of which the client may still tell what it heard; see `session/ended-replies.ts`. */
const openTurns = 8;
/** Sound and words on their way change no turn. */
const passing: ReadonlySet<SessionEvent['type']> = new Set(['reply-audio', 'reply-text', 'transcript-partial']);

/**
 * Writes the turns of a session as they were heard. Told of each event before the client is, so that no client hears of the end of a
 * turn that is not kept; what is cut later, or deleted, is corrected with the next event.
 */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #turns: KeptTurn[] = [];
  readonly #known = new Set<string>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    // Of a session that is taken up again, the old turns are kept already.
    for (const item of parts.conversation.items) this.#known.add(item.id);
  }

  note(event: SessionEvent): void {
    if (passing.has(event.type)) return;
    if (event.type === 'reply-ended' && event.item !== undefined) this.#endTurn(event.item);
    this.#settle(event.type === 'item-deleted' ? this.#turns : this.#turns.slice(-openTurns));
  }

  /** The session has ended: what was said and not answered is kept too. */
  close(): void {
    this.#endTurn(undefined);
    this.#settle(this.#turns);
  }

  #endTurn(answered: MessageItem | undefined): void {
    const { conversation, now } = this.#parts;
    const isSide = answered !== undefined && conversation.get(answered.id) === undefined;
    if (isSide) return;
    const until = answered === undefined ? conversation.items.length : conversation.items.indexOf(answered);
    const asked = conversation.items.slice(0, until).filter((item) => this.#isNewRemark(item)) as MessageItem[];
    const item = asked[0]?.id ?? answered?.id;
    if (item === undefined) return;
    for (const each of [...asked, ...(answered === undefined ? [] : [answered])]) this.#known.add(each.id);
    this.#turns.push({ asked, answered, item, atMs: now(), written: '', isKept: false });
  }

  #isNewRemark(item: Item): boolean {
    return item.type === 'message' && item.role === 'user' && !this.#known.has(item.id) && textOf(item) !== '';
  }

  #settle(turns: readonly KeptTurn[]): void {
    for (const turn of turns) {
      const { session, store, bond, onFault, onTurn } = this.#parts;
      const asked = turn.asked
        .map((item) => this.#standing(item))
        .filter(Boolean)
        .join('\n');
      const answered = turn.answered === undefined ? '' : this.#standing(turn.answered);
      const stands = asked === '' && answered === '' ? '' : JSON.stringify([asked, answered]);
      if (stands === turn.written) continue;
      const kept: Turn = { session, item: turn.item, asked, answered, isKnown: turn.isKept };
      try {
        store.record(bond, kept, factsIn(asked), turn.atMs);
      } catch (fault) {
        onFault(fault);
        return;
      }
      const isNew = !turn.isKept;
      turn.written = stands;
      turn.isKept = true;
      if (isNew) onTurn?.();
    }
  }

  /** What an item says; nothing once it is deleted. */
  #standing(item: MessageItem): string {
    return this.#parts.conversation.get(item.id) === undefined ? '' : textOf(item);
  }
}
