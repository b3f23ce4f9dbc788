import type { MemoryKey } from './record.ts';

/** A value as the database stores it. */
export type Plain = string | number | null | Uint8Array;

/** Words or an embedding of somebody's memories: PostgreSQL may seal it with that person's key. No SQL looks into it. */
export class Content {
  readonly value: string | Uint8Array;
  readonly of: MemoryKey;

  constructor(value: string | Uint8Array, of: MemoryKey) {
    this.value = value;
    this.of = of;
  }
}

export type Value = Plain | Content;

export function plainOf(value: Value): Plain {
  return value instanceof Content ? value.value : value;
}

/** One statement in SQL that SQLite and PostgreSQL both understand, with `?` for each value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /** True if its rows are read; false if they are only counted. */
  readonly hasRows: boolean;
}

export interface Outcome {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Number of rows changed; unknown (0) if rows are read. */
  readonly count: number;
}

/**
 * An operation on memories that yields one statement after the other and gets the outcome of each, so that the same
 * code serves the file, which answers at once, and PostgreSQL, which does not.
 */
export type Steps<Result> = Generator<Statement, Result, Outcome>;

/** Returns a function that marks content of these memories. */
export function contentOf(of: MemoryKey): (value: string | Uint8Array) => Content {
  return (value) => new Content(value, of);
}

/** Runs a statement and returns the number of rows changed. */
export function* run(sql: string, ...values: Value[]): Steps<number> {
  return (yield { sql, values, hasRows: false }).count;
}

export function* all<Row>(sql: string, ...values: Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, hasRows: true }).rows as readonly Row[];
}

export function* get(sql: string, ...values: Value[]): Steps<Readonly<Record<string, unknown>> | undefined> {
  return (yield { sql, values, hasRows: true }).rows[0];
}

/** Notes that the file still has traces of deleted data to purge. PostgreSQL skips it: it vacuums by itself. */
export const purgeNote: Statement = {
  sql: "INSERT OR IGNORE INTO chores VALUES ('vacuum')",
  values: [],
  hasRows: false,
};

/** In place of no limit, which the two databases write differently. */
export const unlimited = 1_000_000_000;

/** Placeholders for this many values: `?, ?`. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}
