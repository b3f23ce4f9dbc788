import path from 'node:path';
import { Database } from './database.ts';
import type { MemoryKey, Correction, FoundFact, MemoryRecord, UserKey, Turn } from './record.ts';
import { pageIn, type ExportPage } from './exported.ts';
import { saveEmbeddingIn, embeddingsIn, type EmbeddedMemory } from './embedding-queries.ts';
import { correctIn, eraseFrom, forgetOldest, forgetTurn, moveIn, removeFrom, type UserOrOwnerKey } from './changes.ts';
import {
  notFound,
  ofMemoryKey,
  ofUser,
  partsOf,
  recordOf,
  type FactRow,
  type SummaryRow,
  type TurnRow,
} from './rows.ts';
import {
  freshFactsIn,
  isCurrentIn,
  nextSummaryInputIn,
  summaryIn,
  unsummarisedIn,
  type NewSummary,
  type SummaryInput,
} from './summary-queries.ts';

export function memoryFile(dataDir: string): string {
  return path.join(dataDir, 'memory', 'memory.sqlite');
}

/**
 * Turns, facts and summaries in one SQLite file. Every method is one transaction, and survives a kill. A power failure
 * may lose the last moments but never corrupts the file (WAL, `synchronous` NORMAL). Deleted data is overwritten,
 * without trace after `tidy`.
 */
export class MemoryStore {
  readonly #database: Database;

  /** Opens or creates the file. Throws `MemoryError` if it cannot be read. `isBeside`: see `Database`. */
  constructor(file: string, isBeside = false) {
    this.#database = new Database(file, isBeside);
  }

  /** Stores or updates a turn and its facts. Deletes the turn if it is empty. */
  record(bond: MemoryKey, turn: Turn, facts: readonly FoundFact[], atMs: number): void {
    const { owner, user, character } = bond;
    const { session, item, asked, answered, isKnown } = turn;
    this.#database.transaction(() => {
      const sql = 'SELECT id, asked, corrected FROM turns WHERE session = ? AND item = ?';
      const before = this.#database.get(sql, session, item);
      if (asked === '' && answered === '') {
        if (before !== undefined) forgetTurn(this.#database, bond, Number(before['id']));
        return;
      }
      if (before === undefined ? isKnown === true : before['corrected'] === 1) return;
      this.#database.run(
        `INSERT INTO turns (owner, user, character, session, item, asked, answered, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (session, item) DO UPDATE SET asked = excluded.asked, answered = excluded.answered`,
        owner,
        user,
        character,
        session,
        item,
        asked,
        answered,
        atMs,
      );
      if (before?.['asked'] === asked) return;
      const kept = this.#database.get('SELECT id FROM turns WHERE session = ? AND item = ?', session, item);
      const id = Number(kept?.['id']);
      this.#database.run('DELETE FROM facts WHERE turn = ? AND corrected = 0', id);
      this.#addFacts(bond, id, facts, atMs);
      if (before === undefined) forgetOldest(this.#database, bond);
    });
  }

  /** Returns the memories with ids after `read`, facts then turns, oldest first; the latest `most` of each kind. */
  recall(
    { owner, user, character }: MemoryKey,
    read: { readonly turn: number; readonly fact: number },
    most: { readonly turns: number; readonly facts: number },
  ): MemoryRecord[] {
    const bond = [owner, user, character];
    const turns = this.#database.all<TurnRow>(
      `SELECT * FROM turns WHERE ${ofMemoryKey} AND id > ? ORDER BY id DESC LIMIT ?`,
      ...bond,
      read.turn,
      most.turns,
    );
    const facts = this.#database.all<FactRow>(
      `SELECT * FROM facts WHERE ${ofMemoryKey} AND id > ? ORDER BY id DESC LIMIT ?`,
      ...bond,
      read.fact,
      most.facts,
    );
    return [...facts.toReversed().map(recordOf.facts), ...turns.toReversed().map(recordOf.turns)];
  }

  embeddings(model: string, ids: readonly string[]): ReadonlyMap<string, Float32Array> {
    return embeddingsIn(this.#database, model, ids);
  }

  /** Stores the embedding of a memory, provided that its text has not changed. */
  keepEmbedding(model: string, memory: EmbeddedMemory, embedding: Float32Array): void {
    saveEmbeddingIn(this.#database, model, memory, embedding);
  }

  /** Returns the summary of earlier conversations; empty if there is none yet. */
  summary(bond: MemoryKey): string {
    return summaryIn(this.#database, bond);
  }

  /**
   * Returns all memories of a user, newest first, of one character or all; of turns, the latest `most` before the turn
   * `before`. With `before`, turns only.
   */
  list(
    person: UserKey,
    options: { readonly character?: string; readonly most?: number; readonly before?: string } = {},
  ): MemoryRecord[] {
    const { character = '', most = -1, before } = options;
    const where = `${ofUser} AND (? = '' OR character = ?)`;
    const whose = [person.owner, person.user, character, character];
    const until = before === undefined ? Number.MAX_SAFE_INTEGER : partsOf(before).number;
    const turns = this.#database.all<TurnRow>(
      `SELECT * FROM turns WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ?`,
      ...whose,
      until,
      most,
    );
    if (before !== undefined) return turns.map(recordOf.turns);
    return [
      ...this.#database
        .all<SummaryRow>(`SELECT * FROM summaries WHERE ${where} ORDER BY id DESC`, ...whose)
        .map(recordOf.summaries),
      ...this.#database
        .all<FactRow>(`SELECT * FROM facts WHERE ${where} ORDER BY id DESC`, ...whose)
        .map(recordOf.facts),
      ...turns.map(recordOf.turns),
    ];
  }

  /** Returns one memory of a user. Throws `MemoryError` if they have none with that id. */
  get(person: UserKey, id: string): MemoryRecord {
    const { table, number } = partsOf(id);
    const row = this.#database.get(
      `SELECT * FROM ${table} WHERE ${ofUser} AND id = ?`,
      person.owner,
      person.user,
      number,
    );
    if (row === undefined) throw notFound(id);
    return recordOf[table](row as never);
  }

  /** Returns a page of the memories of a user, of one character or all, from after the memory `after`. */
  page(person: UserKey, character = '', after?: string): ExportPage {
    return pageIn(this.#database, person, character, after);
  }

  /** Corrects a memory and everything derived from it; returns the corrected memory. */
  correct(person: UserKey, id: string, correction: Correction): MemoryRecord {
    const memory = this.get(person, id);
    this.#database.transaction(() => correctIn(this.#database, person, memory, correction));
    return this.get(person, id);
  }

  /** Deletes a memory with its sources and everything derived from it. */
  remove(person: UserKey, id: string): void {
    const memory = this.get(person, id);
    this.#database.transaction(() => removeFrom(this.#database, person, memory));
  }

  /** Deletes up to `most` memories of a user, of one character or all. Returns the number deleted. */
  erase(person: UserKey, character = '', most = Number.MAX_SAFE_INTEGER): number {
    let count = 0;
    this.#database.transaction(() => (count = eraseFrom(this.#database, person, character, most)));
    return count;
  }

  /** Moves the memories of one user, or of all users of a key, to another. Returns the number of memories moved. */
  move(from: UserOrOwnerKey, to: UserOrOwnerKey): number {
    let count = 0;
    this.#database.transaction(() => (count = moveIn(this.#database, from, to)));
    return count;
  }

  /** Purges deleted data from the file and its log, if there is any. Returns false if it has to be retried. */
  purge(): boolean {
    if (this.#database.get('SELECT 1 FROM chores') === undefined) return true;
    if (!this.#database.vacuum()) return false;
    this.#database.run('DELETE FROM chores');
    return true;
  }

  /** Returns every user and character with memories, and how many. */
  people(): (MemoryKey & { readonly turns: number; readonly facts: number; readonly lastAt: string })[] {
    return this.#database
      .all<MemoryKey & { turns: number; lastAt: number; facts: number }>(
        `SELECT owner, user, character, COUNT(*) AS turns, MAX(at) AS lastAt,
         (SELECT COUNT(*) FROM facts AS f WHERE f.owner = t.owner AND f.user = t.user AND f.character = t.character) AS facts
       FROM turns AS t GROUP BY owner, user, character ORDER BY lastAt DESC`,
      )
      .map((row) => ({ ...row, lastAt: new Date(row.lastAt).toISOString() }));
  }

  /** Returns the turns not summarized yet, oldest first. */
  unsummarised(bond: MemoryKey): readonly TurnRow[] {
    return unsummarisedIn(this.#database, bond);
  }

  /** Returns the turns to be summarized next; undefined if there are none. */
  outgrown(bond: MemoryKey): SummaryInput | undefined {
    return nextSummaryInputIn(this.#database, bond);
  }

  /** Replaces the summary and adds its facts; false, without changes, if a source was corrected or deleted. */
  summarise({ owner, user, character }: MemoryKey, made: NewSummary): boolean {
    let isDone = false;
    this.#database.transaction(() => {
      const bond = { owner, user, character };
      if (!isCurrentIn(this.#database, bond, made)) return;
      this.#database.run(
        `INSERT INTO summaries (owner, user, character, text, at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (owner, user, character) DO UPDATE SET text = excluded.text, at = excluded.at, corrected = 0`,
        owner,
        user,
        character,
        made.text,
        made.atMs,
      );
      for (const { turn, ...fact } of freshFactsIn(this.#database, made)) this.#addFacts(bond, turn, [fact], made.atMs);
      for (const { id } of made.turns)
        this.#database.run('UPDATE turns SET summarised = 1, extracted = 1 WHERE id = ?', id);
      isDone = true;
    });
    return isDone;
  }

  close(): void {
    this.#database.close();
  }

  #addFacts({ owner, user, character }: MemoryKey, turn: number, facts: readonly FoundFact[], atMs: number): void {
    for (const { topic, text } of facts) {
      const bond = [owner, user, character];
      if (topic !== undefined)
        this.#database.run(`DELETE FROM facts WHERE ${ofMemoryKey} AND topic = ? AND corrected = 0`, ...bond, topic);
      const same = this.#database.get(
        `SELECT id FROM facts WHERE ${ofMemoryKey} AND lower(text) = lower(?)`,
        ...bond,
        text,
      );
      if (same !== undefined) continue;
      this.#database.run(
        'INSERT INTO facts (owner, user, character, turn, topic, text, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...bond,
        turn,
        topic ?? null,
        text,
        atMs,
      );
    }
  }
}
