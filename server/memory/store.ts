import path from 'node:path';
import { Database } from './database.ts';
import type { Bond, Correction, FoundFact, MemoryRecord, Person, Turn } from './record.ts';
import { pageIn, type ExportPage } from './exported.ts';
import { keepPointIn, pointsIn, type PointedMemory } from './points.ts';
import { correctIn, eraseFrom, forgetTurn, moveIn, removeFrom, type Whose } from './changes.ts';
import {
  factRecord,
  notFound,
  ofBond,
  ofPerson,
  partsOf,
  summaryRecord,
  turnRecord,
  type FactRow,
  type SummaryRow,
  type TurnRow,
} from './rows.ts';
import {
  freshFactsIn,
  isCurrentIn,
  outgrownIn,
  summaryIn,
  unsummarisedIn,
  type MadeSummary,
  type Outgrown,
} from './summing.ts';

/** Where the memories of a data folder lie. */
export function memoryFile(dataDir: string): string {
  return path.join(dataDir, 'memory', 'memory.sqlite');
}

/**
 * Turns, facts and summaries in one SQLite file. Every method is one transaction, done when it returns: it then outlives a kill of
 * the process at any moment. A cut of power may cost the last moments, never the file (WAL, `synchronous` NORMAL, so that a turn
 * waits for no disk). What is deleted is overwritten, and leaves no trace once `tidy` is done.
 */
export class MemoryStore {
  readonly #database: Database;

  /** Opens or makes the file. Throws `MemoryError` where it cannot be read. `isBeside`: see `Database`. */
  constructor(file: string, isBeside = false) {
    this.#database = new Database(file, isBeside);
  }

  /** Keeps a turn with the facts in it, or what is now known of one that is kept. An empty one is forgotten. */
  record(bond: Bond, turn: Turn, facts: readonly FoundFact[], atMs: number): void {
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
    });
  }

  /** What a character may recall of a person and has not read yet, oldest first, the latest `most` of each. */
  recall(
    { owner, user, character }: Bond,
    read: { readonly turn: number; readonly fact: number },
    most: { readonly turns: number; readonly facts: number },
  ): MemoryRecord[] {
    const bond = [owner, user, character];
    const turns = this.#database.all<TurnRow>(
      `SELECT * FROM turns WHERE ${ofBond} AND id > ? ORDER BY id DESC LIMIT ?`,
      ...bond,
      read.turn,
      most.turns,
    );
    const facts = this.#database.all<FactRow>(
      `SELECT * FROM facts WHERE ${ofBond} AND id > ? ORDER BY id DESC LIMIT ?`,
      ...bond,
      read.fact,
      most.facts,
    );
    return [...facts.toReversed().map(factRecord), ...turns.toReversed().map(turnRecord)];
  }

  /** The points of meaning that are kept of memories, by id. */
  points(model: string, ids: readonly string[]): ReadonlyMap<string, Float32Array> {
    return pointsIn(this.#database, model, ids);
  }

  /** Keeps the point of a memory that still says this. */
  keepPoint(model: string, memory: PointedMemory, point: Float32Array): void {
    keepPointIn(this.#database, model, memory, point);
  }

  /** What a character remembers of earlier talks as a whole; empty where that is nothing yet. */
  summary(bond: Bond): string {
    return summaryIn(this.#database, bond);
  }

  /** Everything kept of a person, the newest first, of one character or all; of turns the latest `most` before the turn `before`. */
  list(
    person: Person,
    options: { readonly character?: string; readonly most?: number; readonly before?: string } = {},
  ): MemoryRecord[] {
    const { character = '', most = -1, before } = options;
    const where = `${ofPerson} AND (? = '' OR character = ?)`;
    const whose = [person.owner, person.user, character, character];
    const until = before === undefined ? Number.MAX_SAFE_INTEGER : partsOf(before).number;
    const turns = this.#database.all<TurnRow>(
      `SELECT * FROM turns WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ?`,
      ...whose,
      until,
      most,
    );
    if (before !== undefined) return turns.map(turnRecord);
    return [
      ...this.#database
        .all<SummaryRow>(`SELECT * FROM summaries WHERE ${where} ORDER BY id DESC`, ...whose)
        .map(summaryRecord),
      ...this.#database.all<FactRow>(`SELECT * FROM facts WHERE ${where} ORDER BY id DESC`, ...whose).map(factRecord),
      ...turns.map(turnRecord),
    ];
  }

  /** One memory of a person. Throws `MemoryError` where they have none of that id. */
  get(person: Person, id: string): MemoryRecord {
    const { table, number } = partsOf(id);
    const row = this.#database.get(
      `SELECT * FROM ${table} WHERE ${ofPerson} AND id = ?`,
      person.owner,
      person.user,
      number,
    );
    if (row === undefined) throw notFound(id);
    if (table === 'turns') return turnRecord(row as unknown as TurnRow);
    return table === 'facts' ? factRecord(row as unknown as FactRow) : summaryRecord(row as unknown as SummaryRow);
  }

  /** A piece of all that is kept of a person, or of what one character remembers: what comes after the memory `after`. */
  page(person: Person, character = '', after?: string): ExportPage {
    return pageIn(this.#database, person, character, after);
  }

  /** Has a memory say something else, and what rests on it with it, and returns it. */
  correct(person: Person, id: string, correction: Correction): MemoryRecord {
    const memory = this.get(person, id);
    this.#database.transaction(() => correctIn(this.#database, person, memory, correction));
    return this.get(person, id);
  }

  /** Forgets a memory with all that it rests on or that rests on it. */
  remove(person: Person, id: string): void {
    const memory = this.get(person, id);
    this.#database.transaction(() => removeFrom(this.#database, person, memory));
  }

  /** Forgets up to `most` memories of a person, or of what one character knows. Returns how many: none when all are gone. */
  erase(person: Person, character = '', most = Number.MAX_SAFE_INTEGER): number {
    let count = 0;
    this.#database.transaction(() => (count = eraseFrom(this.#database, person, character, most)));
    return count;
  }

  /** Gives what is remembered of one person, or of all persons of a key, to another. Returns how many memories there were. */
  move(from: Whose, to: Whose): number {
    let count = 0;
    this.#database.transaction(() => (count = moveIn(this.#database, from, to)));
    return count;
  }

  /** Rids the file and its log of traces of what was deleted, where there are any. False where it is to be tried again. */
  tidy(): boolean {
    if (this.#database.get('SELECT 1 FROM chores') === undefined) return true;
    if (!this.#database.vacuum()) return false;
    this.#database.run('DELETE FROM chores');
    return true;
  }

  /** Who is remembered, by whom, and how much. */
  people(): (Bond & { readonly turns: number; readonly facts: number; readonly lastAt: string })[] {
    return this.#database
      .all<Bond & { turns: number; lastAt: number; facts: number }>(
        `SELECT owner, user, character, COUNT(*) AS turns, MAX(at) AS lastAt,
         (SELECT COUNT(*) FROM facts AS f WHERE f.owner = t.owner AND f.user = t.user AND f.character = t.character) AS facts
       FROM turns AS t GROUP BY owner, user, character ORDER BY lastAt DESC`,
      )
      .map((row) => ({ ...row, lastAt: new Date(row.lastAt).toISOString() }));
  }

  /** The turns that no summary holds yet, oldest first. */
  unsummarised(bond: Bond): readonly TurnRow[] {
    return unsummarisedIn(this.#database, bond);
  }

  /** What is to be summed up next; undefined while that is nothing. */
  outgrown(bond: Bond): Outgrown | undefined {
    return outgrownIn(this.#database, bond);
  }

  /**
   * Takes a new summary in the place of the old one, with the facts that were found on the way. False, and nothing is changed, where
   * something of what it was made of was corrected or deleted since.
   */
  summarise({ owner, user, character }: Bond, made: MadeSummary): boolean {
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

  #addFacts({ owner, user, character }: Bond, turn: number, facts: readonly FoundFact[], atMs: number): void {
    for (const { topic, text } of facts) {
      const bond = [owner, user, character];
      if (topic !== undefined)
        this.#database.run(`DELETE FROM facts WHERE ${ofBond} AND topic = ? AND corrected = 0`, ...bond, topic);
      const same = this.#database.get(`SELECT id FROM facts WHERE ${ofBond} AND lower(text) = lower(?)`, ...bond, text);
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
