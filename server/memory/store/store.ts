import path from 'node:path';
import type { Perform } from './copied.ts';
import { Database } from './database.ts';
import { operations, type ArgsOf, type ResultOf } from './operations.ts';
import type { TurnRow } from './rows.ts';
import { get, run } from './steps.ts';

export function memoryFile(dataDir: string): string {
  return path.join(dataDir, 'memory', 'memory.sqlite');
}

/**
 * Turns, facts and summaries in one SQLite file. Every method is one transaction, and survives a kill. A power failure
 * may lose the last moments but never corrupts the file (WAL, `synchronous` NORMAL). Deleted data is overwritten,
 * without trace after `purge`. The methods are described in `operations.ts`.
 */
export class MemoryStore {
  readonly #database: Database;

  /** Opens or creates the file. Throws `MemoryError` if it cannot be read. `isBeside`: see `Database`. */
  constructor(file: string, isBeside = false) {
    this.#database = new Database(file, isBeside);
  }

  record(...args: ArgsOf<'record'>): void {
    this.#database.transaction(operations.record(...args));
  }

  recall(...args: ArgsOf<'recall'>): ResultOf<'recall'> {
    return this.#database.perform(operations.recall(...args));
  }

  standing(...args: ArgsOf<'standing'>): ResultOf<'standing'> {
    return this.#database.perform(operations.standing(...args));
  }

  embeddings(...args: ArgsOf<'embeddings'>): ResultOf<'embeddings'> {
    return this.#database.perform(operations.embeddings(...args));
  }

  keepEmbedding(...args: ArgsOf<'keepEmbedding'>): void {
    this.#database.transaction(operations.keepEmbedding(...args));
  }

  summary(...args: ArgsOf<'summary'>): string {
    return this.#database.perform(operations.summary(...args));
  }

  keepState(...args: ArgsOf<'keepState'>): void {
    this.#database.transaction(operations.keepState(...args));
  }

  states(...args: ArgsOf<'states'>): ResultOf<'states'> {
    return this.#database.perform(operations.states(...args));
  }

  /** In a transaction: it is of one moment. */
  saved(...args: ArgsOf<'saved'>): ResultOf<'saved'> {
    return this.#database.transaction(operations.saved(...args));
  }

  load(...args: ArgsOf<'load'>): void {
    this.#database.transaction(operations.load(...args));
  }

  list(...args: ArgsOf<'list'>): ResultOf<'list'> {
    return this.#database.perform(operations.list(...args));
  }

  get(...args: ArgsOf<'get'>): ResultOf<'get'> {
    return this.#database.perform(operations.get(...args));
  }

  page(...args: ArgsOf<'page'>): ResultOf<'page'> {
    return this.#database.perform(operations.page(...args));
  }

  correct(...args: ArgsOf<'correct'>): ResultOf<'correct'> {
    return this.#database.transaction(operations.correct(...args));
  }

  remove(...args: ArgsOf<'remove'>): void {
    this.#database.transaction(operations.remove(...args));
  }

  erase(...args: ArgsOf<'erase'>): number {
    return this.#database.transaction(operations.erase(...args));
  }

  move(...args: ArgsOf<'move'>): number {
    return this.#database.transaction(operations.move(...args));
  }

  people(): ResultOf<'people'> {
    return this.#database.perform(operations.people());
  }

  /** Returns the turns not summarized yet, oldest first. */
  unsummarised(...args: ArgsOf<'unsummarised'>): readonly TurnRow[] {
    return this.#database.perform(operations.unsummarised(...args));
  }

  outgrown(...args: ArgsOf<'outgrown'>): ResultOf<'outgrown'> {
    return this.#database.perform(operations.outgrown(...args));
  }

  summarise(...args: ArgsOf<'summarise'>): boolean {
    return this.#database.transaction(operations.summarise(...args));
  }

  /** See `Copyable`. */
  within<Result>(act: (perform: Perform) => Promise<Result>): Promise<Result> {
    return this.#database.within(act);
  }

  /** Purges deleted data from the file and its log, if there is any. Returns false if it has to be retried. */
  purge(): boolean {
    if (this.#database.perform(get('SELECT 1 FROM chores')) === undefined) return true;
    if (!this.#database.vacuum()) return false;
    this.#database.perform(run('DELETE FROM chores'));
    return true;
  }

  close(): void {
    this.#database.close();
  }
}
