import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { MemoryError } from './record.ts';
import { migrate } from './schema.ts';

type Value = string | number | null | Uint8Array;

/** How long a write waits for another process; the event loop waits with it. */
const busyMs = 250;

/** One SQLite file, with statements that are prepared once. */
export class Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Opens or makes the file, readable by its owner alone, and brings it up to date. Throws `MemoryError` where it cannot be read. */
  constructor(file: string) {
    let database: DatabaseSync | undefined;
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      database = new DatabaseSync(file, { timeout: busyMs });
      chmodSync(file, 0o600);
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;',
      );
      const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
      if (found !== 'ok') throw new Error(found);
      migrate(database);
      this.#database = database;
    } catch (cause) {
      database?.close();
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `The memories in ${file} cannot be read (${reason}). Restore the file from a backup, or move it away to begin anew.`;
      throw new MemoryError('memory_unavailable', message, cause);
    }
  }

  /** All of it, or nothing. */
  transaction(change: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      change();
      this.#database.exec('COMMIT');
    } catch (cause) {
      this.#database.exec('ROLLBACK');
      throw cause;
    }
  }

  /** Differs once another process has changed the file. */
  get version(): number {
    return Number(this.get('PRAGMA data_version')?.['data_version']);
  }

  /** Takes over what stands in the write-ahead log, and empties it. Where another process reads just now, its end does that. */
  checkpoint(): void {
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  /** Returns how many rows were changed. */
  run(sql: string, ...values: Value[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  get(sql: string, ...values: Value[]): Record<string, unknown> | undefined {
    return this.#prepared(sql).get(...values);
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  close(): void {
    this.#database.close();
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
