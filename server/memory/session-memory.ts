import type { Message } from '../../agents/chat.ts';
import type { Meanings } from '../../agents/embeddings/meanings.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { Conversation } from '../session/conversation.ts';
import type { SessionEvent } from '../session/events.ts';
import { Keeper } from './keeper.ts';
import { openRecall, type Recall } from './recall.ts';
import type { Bond, Person } from './record.ts';
import type { MemoryStore } from './store.ts';

export interface SessionMemoryParts {
  readonly store: MemoryStore;
  readonly owner: Person['owner'];
  readonly character: string;
  readonly now: () => number;
  /** Recalls by meaning too. */
  readonly meanings?: Meanings | undefined;
  readonly onFault: (fault: unknown) => void;
  /** Told after each turn: there may be something to sum up. */
  readonly onTurn: (bond: Bond) => void;
}

interface Begun {
  readonly id: string;
  readonly conversation: Conversation;
}

/** What one session remembers: nothing until it is told who its user is. A store that fails costs memories, never the talk. */
export class SessionMemory {
  readonly #parts: SessionMemoryParts;
  #session: Begun | undefined;
  #user: string | undefined;
  #keeper: Keeper | undefined;
  #recall: Recall | undefined;
  #talk = new AbortController();

  constructor(parts: SessionMemoryParts) {
    this.#parts = parts;
  }

  begin({ id, conversation, user }: Begun & { readonly user: string | undefined }): void {
    this.#session = { id, conversation };
    this.nameUser(user);
  }

  /** From now on this is who talks; what was said before is not kept. */
  nameUser(user: string | undefined): void {
    if (this.#session === undefined || user === undefined || user === this.#user) return;
    const { store, owner, character, now, meanings, onFault, onTurn } = this.#parts;
    const { id: session, conversation } = this.#session;
    const bond: Bond = { owner, user, character };
    this.#user = user;
    this.#talk.abort();
    this.#talk = new AbortController();
    const { signal } = this.#talk;
    this.#recall = openRecall(store, bond, now, meanings && { meanings, signal, onFault });
    this.#keeper = new Keeper({ store, bond, session, conversation, now, onFault, onTurn: () => onTurn(bond) });
    this.#guarded(() => this.#recall?.read());
  }

  note(event: SessionEvent): void {
    this.#guarded(() => this.#keeper?.note(event));
  }

  /** Takes `longestWaitMs` at most, where meanings are asked for; throws `signal.reason` alone. */
  async recall(history: readonly Message[], options: CallOptions): Promise<readonly string[]> {
    const remark = history.findLast(({ role }) => role === 'user')?.text.trim() ?? '';
    const isAsked = this.#recall !== undefined && remark !== '';
    const point = isAsked ? await this.#parts.meanings?.pointOf(remark, options) : undefined;
    return this.#guarded(() => this.#recall?.(history, point)) ?? [];
  }

  close(): void {
    this.#talk.abort();
    this.#guarded(() => this.#keeper?.close());
    this.#keeper = undefined;
  }

  #guarded<Value>(act: () => Value): Value | undefined {
    try {
      return act();
    } catch (fault) {
      this.#parts.onFault(fault);
      return undefined;
    }
  }
}
