import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Perform } from './copied.ts';
import { MemoryError } from './record.ts';
import { migrate } from './schema.ts';
import { plainOf, type Steps } from './steps.ts';

/** Timeout of the main connection while another process writes. */
const busyMs = 5_000;
/** Timeout of the secondary connection, which blocks the event loop. */
const besideBusyMs = 10;

/** One SQLite file with cached prepared statements. */
export class Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Opens or creates the file, readable by its owner only, and migrates it. Throws `MemoryError`. `isBeside`: a second
   * connection, which does not migrate or checkpoint the file, and hardly waits for locks.
   */
  constructor(file: string, isBeside = false) {
    let database: DatabaseSync | undefined;
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      database = new DatabaseSync(file, { timeout: isBeside ? besideBusyMs : busyMs });
      if (!isBeside) prepare(database, file);
      database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;');
      if (isBeside) database.exec('PRAGMA wal_autocheckpoint = 0');
      this.#database = database;
    } catch (cause) {
      database?.close();
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `The memory database ${file} cannot be read (${reason}). Restore the file from a backup, or move it away to start with an empty one.`;
      throw new MemoryError('memory_unavailable', message, cause);
    }
  }

  /** Runs the steps in a transaction; rolls back if they throw. */
  transaction<Result>(steps: Steps<Result>): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = this.perform(steps);
      this.#database.exec('COMMIT');
      return result;
    } catch (cause) {
      // On a full disk SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw cause;
    }
  }

  /** As `transaction`, for work that has to wait for another database. */
  async within<Result>(act: (perform: Perform) => Promise<Result>): Promise<Result> {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = await act(async (steps) => this.perform(steps));
      this.#database.exec('COMMIT');
      return result;
    } catch (cause) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw cause;
    }
  }

  /** Runs the steps, each statement on its own. */
  perform<Result>(steps: Steps<Result>): Result {
    let step = steps.next();
    while (step.done !== true) {
      const { sql, hasRows } = step.value;
      const values = step.value.values.map(plainOf);
      const prepared = this.#prepared(sql);
      step = steps.next(
        hasRows
          ? { rows: prepared.all(...values), count: 0 }
          : { rows: [], count: Number(prepared.run(...values).changes) },
      );
    }
    return step.value;
  }

  /**
   * Rewrites the whole file and truncates the log: even with `secure_delete`, copies of deleted data can remain in
   * unused parts of the file. Returns false if another process is reading and it has to be repeated.
   */
  vacuum(): boolean {
    this.#database.exec('VACUUM');
    const { busy } = this.#prepared('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    return busy === 0;
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

function prepare(database: DatabaseSync, file: string): void {
  chmodSync(file, 0o600);
  database.exec('PRAGMA journal_mode = WAL');
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (found !== 'ok') throw new Error(found);
  migrate(database);
}
