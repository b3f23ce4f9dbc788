/** Whose memories: `owner` stands for the server key that was shown, empty where none is needed; `user` is the client's name for a person. */
export interface Person {
  readonly owner: string;
  readonly user: string;
}

/** What one character remembers of one person. */
export interface Bond extends Person {
  readonly character: string;
}

/** One exchange as it was heard. */
export interface Turn {
  /** Of the session and its first item: the same pair is the same turn. */
  readonly session: string;
  readonly item: string;
  /** What the user said; empty where the character spoke first. */
  readonly asked: string;
  /** What was heard of the reply; may be empty. */
  readonly answered: string;
  /** It was kept before: where it is gone by now, somebody deleted it, and it stays so. */
  readonly isKnown?: boolean;
}

/** A fact about the user, as it was read out of a turn. */
export interface FoundFact {
  /** Of which a person has one: a new one takes the place of the old. Absent where there may be many. */
  readonly topic?: string;
  readonly text: string;
}

/** One memory, as its person may read it. `id`: `t…` a turn, `f…` a fact, `s…` the summary of earlier talks. */
export type MemoryRecord = {
  readonly id: string;
  readonly character: string;
  /** ISO 8601, UTC. */ readonly at: string;
} & (
  | { readonly kind: 'turn'; readonly session: string; readonly asked: string; readonly answered: string }
  /** `source`: the turn in which it was said. */
  | { readonly kind: 'fact'; readonly text: string; readonly source: string | null; readonly corrected: boolean }
  | { readonly kind: 'summary'; readonly text: string; readonly corrected: boolean }
);

/** What a memory is to say instead. */
export type Correction =
  | { readonly text: string }
  | { readonly asked?: string | undefined; readonly answered?: string | undefined };

/** Memories cannot be had; `code` is one of the error table. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
  readonly code: 'memory_off' | 'memory_unavailable' | 'memory_not_found' | 'invalid_value';

  constructor(code: MemoryError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
