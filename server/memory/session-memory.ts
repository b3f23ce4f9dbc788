import type { Message } from '../../agents/chat.ts';
import type { Meanings } from '../../agents/embeddings/embedding-index.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { Conversation } from '../session/history/conversation.ts';
import type { MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import { Keeper } from './keeper.ts';
import { openRecall, type Recall } from './recall.ts';
import type { Bond, Person } from './record.ts';
import type { MemoryStore } from './store.ts';
import type { StoreThread } from './store-thread.ts';

export interface SessionMemoryParts {
  /** To be written to. */
  readonly store: Pick<StoreThread, 'record' | 'keepPoint'>;
  /** The same file, for a talk to recall from. */
  readonly reader: MemoryStore;
  readonly owner: Person['owner'];
  readonly character: string;
  readonly now: () => number;
  /** Recalls by meaning too. */
  readonly meanings?: Meanings | undefined;
  readonly onFault: (fault: unknown) => void;
  /** Told once its user is named, and after each turn: there may be something to sum up. */
  readonly onTurn: (bond: Bond) => void;
  /** Told when all is kept, of whom. */
  readonly onEnd: (bond: Bond | undefined) => void;
}

interface Begun {
  readonly id: string;
  readonly conversation: Conversation;
}

interface Beginning extends Begun {
  readonly user: string | undefined;
  /** Of a session that is taken up again, what its server did not live to end; absent where others than the character spoke it. */
  readonly openReplies: readonly MessageItem[] | undefined;
}

/** What one session remembers: nothing until it is told who its user is. A store that fails costs memories, never the talk: nothing throws. */
export class SessionMemory {
  readonly #parts: SessionMemoryParts;
  #session: Begun | undefined;
  #keeper: Keeper | undefined;
  #bond: Bond | undefined;
  #isFailing = false;
  #closing: Promise<void> | undefined;
  #recall: Recall | undefined;
  #talk = new AbortController();

  constructor(parts: SessionMemoryParts) {
    this.#parts = parts;
  }

  begin({ id, conversation, user, openReplies }: Beginning): void {
    this.#session = { id, conversation };
    this.#follow(user, openReplies);
  }

  /** From now on this is who talks; what was said before is not kept. */
  nameUser(user: string | undefined): void {
    this.#follow(user, undefined);
  }

  #follow(user: string | undefined, openReplies: readonly MessageItem[] | undefined): void {
    if (this.#session === undefined || user === undefined || user === this.#bond?.user) return;
    const { store, reader, owner, character, now, meanings, onTurn } = this.#parts;
    const { id: session, conversation } = this.#session;
    const bond: Bond = { owner, user, character };
    this.#bond = bond;
    const onFault = (fault: unknown): void => this.#tell(fault);
    this.#talk.abort();
    this.#talk = new AbortController();
    const { signal } = this.#talk;
    const byMeaning = meanings && { meanings, keep: store.keepPoint, signal, onFault };
    this.#recall = openRecall(reader, bond, now, byMeaning);
    const onKept = (): void => {
      this.#isFailing = false;
      onTurn(bond);
    };
    this.#keeper = new Keeper({ store, bond, session, conversation, openReplies, now, onFault, onTurn: onKept });
    this.#guarded(() => this.#recall?.read());
    onTurn(bond);
  }

  /** `onStage`: others play than the character whose memories these are. */
  note(event: SessionEvent, onStage: boolean): Promise<void> | undefined {
    return this.#guarded(() => this.#keeper?.note(event, onStage));
  }

  /** Takes `longestWaitMs` at most, where meanings are asked for; throws `signal.reason` alone. */
  async recall(history: readonly Message[], options: CallOptions): Promise<readonly string[]> {
    const remark = history.findLast(({ role }) => role === 'user')?.text.trim() ?? '';
    const isAsked = this.#recall !== undefined && remark !== '';
    const point = isAsked ? await this.#parts.meanings?.pointOf(remark, options) : undefined;
    return this.#guarded(() => this.#recall?.(history, point)) ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#talk.abort();
    await this.#guarded(() => this.#keeper?.close());
    this.#keeper = undefined;
    this.#parts.onEnd(this.#bond);
  }

  #guarded<Value>(act: () => Value): Value | undefined {
    try {
      return act();
    } catch (fault) {
      this.#tell(fault);
      return undefined;
    }
  }

  /** Once, until something is kept again: a full disk fails with every turn. */
  #tell(fault: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#parts.onFault(fault);
  }
}
