/** Key of a user's memories: `owner` identifies the API key (empty: no keys), `user` is the client's id. */
export interface UserKey {
  readonly owner: string;
  readonly user: string;
}

/** Key of the memories that one character has of one user. */
export interface MemoryKey extends UserKey {
  readonly character: string;
}

/** One exchange, with the reply as far as it was heard. */
export interface Turn {
  /** Session id; together with `item`, the id of the turn's first item, it identifies the turn. */
  readonly session: string;
  readonly item: string;
  /** User message; empty if the character spoke first. */
  readonly asked: string;
  /** The part of the reply that was heard; may be empty. */
  readonly answered: string;
  /** The turn was stored before. If it is missing from the store, it was deleted and is not stored again. */
  readonly isKnown?: boolean;
}

/** A fact about the user, extracted from a turn. */
export interface FoundFact {
  /** Topic with a single value per user: a new fact replaces the old one. Absent if there may be several. */
  readonly topic?: string;
  readonly text: string;
}

/** One memory, as shown to its user. `id`: `t…` for a turn, `f…` for a fact, `s…` for a summary. */
export type MemoryRecord = {
  readonly id: string;
  readonly character: string;
  /** ISO 8601, UTC. */ readonly at: string;
} & (
  | { readonly kind: 'turn'; readonly session: string; readonly asked: string; readonly answered: string }
  /** `source`: id of the turn it was extracted from. */
  | { readonly kind: 'fact'; readonly text: string; readonly source: string | null; readonly corrected: boolean }
  | { readonly kind: 'summary'; readonly text: string; readonly corrected: boolean }
);

/** New text of a memory. */
export type Correction =
  | { readonly text: string }
  | { readonly asked?: string | undefined; readonly answered?: string | undefined };

/** A memory operation failed; `code` is one of the error table. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
  readonly code: 'memory_off' | 'memory_unavailable' | 'memory_not_found' | 'invalid_value';

  constructor(code: MemoryError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
