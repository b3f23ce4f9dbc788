import type { Message } from '../../agents/chat.ts';
import type { SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { Conversation } from '../session/history/conversation.ts';
import type { MessageItem } from '../session/contract/item.ts';
import type { SessionEvent } from '../session/contract/events.ts';
import { TurnRecorder } from './turn-recorder.ts';
import { openRecall, type Recall } from './recall.ts';
import type { MemoryKey, UserKey } from './store/record.ts';
import type { AsyncStore } from './store/operations.ts';

export interface SessionMemoryParts {
  readonly store: Pick<AsyncStore, 'record' | 'keepEmbedding' | 'recall' | 'standing' | 'summary' | 'embeddings'>;
  readonly owner: UserKey['owner'];
  readonly character: string;
  readonly now: () => number;
  /** Embeddings, for semantic recall. */
  readonly embedder?: SharedEmbedder | undefined;
  readonly onFault: (fault: unknown) => void;
  /** Called each time that a turn could not be stored. */
  readonly onLoss: () => void;
  /** Called once the user is named and after each turn: there may be something to summarize. */
  readonly onTurn: (bond: MemoryKey) => void;
  /** Called when the session has ended; what is `unkept` then waits for a retry. */
  readonly onEnd: (bond: MemoryKey | undefined) => void;
}

interface Begun {
  readonly id: string;
  readonly conversation: Conversation;
}

interface Beginning extends Begun {
  readonly user: string | undefined;
  /** Id of the player whose memory it is; absent: the user's, who is alone. */
  readonly speaker?: string | undefined;
  /** In a resumed session, the unfinished replies of the previous process; absent if others spoke them. */
  readonly openReplies: readonly MessageItem[] | undefined;
}

/** Memory of one session; inactive until the user is named. Never throws: a failing store costs only memories. */
export class SessionMemory {
  readonly #parts: SessionMemoryParts;
  #session: Begun | undefined;
  #speaker: string | undefined;
  #keeper: TurnRecorder | undefined;
  #bond: MemoryKey | undefined;
  #isFailing = false;
  #closing: Promise<void> | undefined;
  #recall: Recall | undefined;
  #talk = new AbortController();

  constructor(parts: SessionMemoryParts) {
    this.#parts = parts;
  }

  begin({ id, conversation, user, openReplies, speaker }: Beginning): void {
    this.#speaker = speaker;
    this.#session = { id, conversation };
    this.#follow(user, openReplies);
  }

  /** Sets the user from now on; what was said before is not stored. */
  nameUser(user: string | undefined): void {
    this.#follow(user, undefined);
  }

  #follow(user: string | undefined, openReplies: readonly MessageItem[] | undefined): void {
    if (this.#session === undefined || user === undefined || user === this.#bond?.user) return;
    const { store, owner, character, now, embedder, onTurn, onLoss } = this.#parts;
    const { id: session, conversation } = this.#session;
    const bond: MemoryKey = { owner, user, character };
    this.#bond = bond;
    const onFault = (fault: unknown): void => this.#tell(fault);
    this.#talk.abort();
    this.#talk = new AbortController();
    const { signal } = this.#talk;
    const byEmbedding = embedder && { embedder, keep: store.keepEmbedding, signal, onFault };
    this.#recall = openRecall(store, bond, now, byEmbedding);
    const onKept = (): void => {
      this.#isFailing = false;
      onTurn(bond);
    };
    const onUnkept = (fault: unknown): void => {
      onFault(fault);
      onLoss();
    };
    const recorded = { store, bond, session, conversation, openReplies, now, speaker: this.#speaker };
    this.#keeper = new TurnRecorder({ ...recorded, onFault: onUnkept, onTurn: onKept });
    void this.#guarded(() => this.#recall?.read());
    onTurn(bond);
  }

  /** Stores what an event changes. `onStage`: characters other than the one with these memories are speaking. */
  note(event: SessionEvent, onStage: boolean): Promise<void> | undefined {
    const written = this.#keeper?.note(event, onStage);
    return written && this.#guarded(() => written);
  }

  get hasEnded(): boolean {
    return this.#closing !== undefined;
  }

  /** Number of turns that could not be stored yet. */
  get unkept(): number {
    return this.#keeper?.unkept ?? 0;
  }

  /** Stores what could not be stored before. */
  async retry(): Promise<void> {
    if (this.unkept > 0) await this.#guarded(() => this.#keeper?.retry());
  }

  /** Returns the memories for the conversation, after `longestWaitMs` at most; throws only `signal.reason`. */
  async recall(history: readonly Message[], options: CallOptions): Promise<readonly string[]> {
    const userMessage = history.findLast(({ role }) => role === 'user')?.text.trim() ?? '';
    const isAsked = this.#recall !== undefined && userMessage !== '';
    const embedding = isAsked ? await this.#parts.embedder?.embeddingOf(userMessage, options) : undefined;
    return (await this.#guarded(() => this.#recall?.(history, embedding))) ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#talk.abort();
    await this.#guarded(() => this.#keeper?.close());
    if (this.unkept === 0) this.#keeper = undefined;
    this.#parts.onEnd(this.#bond);
  }

  async #guarded<Value>(act: () => Promise<Value> | undefined): Promise<Value | undefined> {
    try {
      return await act();
    } catch (fault) {
      this.#tell(fault);
      return undefined;
    }
  }

  /** Reports a fault once, until a write succeeds again: a full disk fails with every turn. */
  #tell(fault: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#parts.onFault(fault);
  }
}
