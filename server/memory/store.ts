import path from 'node:path';
import { Database } from './database.ts';
import {
  MemoryError,
  type Bond,
  type Correction,
  type FoundFact,
  type MemoryRecord,
  type Person,
  type Turn,
} from './record.ts';
import { openPoints, type StoredPoints } from './points.ts';
import { factRecord, summaryRecord, turnRecord, type FactRow, type SummaryRow, type TurnRow } from './rows.ts';

const ofPerson = 'owner = ? AND user = ?';
const ofBond = `${ofPerson} AND character = ?`;

/** Where the memories of a data folder lie. */
export function memoryFile(dataDir: string): string {
  return path.join(dataDir, 'memory', 'memory.sqlite');
}

/**
 * Turns, facts and summaries in one SQLite file. Every method is one transaction, done when it returns: it then outlives a kill of
 * the process at any moment. A cut of power may cost the last moments, never the file (WAL, `synchronous` NORMAL, so that a turn
 * waits for no disk). What is deleted is overwritten.
 */
export class MemoryStore {
  readonly #database: Database;
  /** What the memories mean, beside them. */
  readonly points: StoredPoints;
  #changes = 0;

  /** Opens or makes the file. Throws `MemoryError` where it cannot be read. */
  constructor(file: string) {
    this.#database = new Database(file);
    this.points = openPoints(this.#database);
  }

  /** Differs after every change by anybody but `record`, in this process or another. */
  get version(): string {
    return `${this.#changes}.${this.#database.version}`;
  }

  /** Keeps a turn with the facts in it, or what is now known of one that is kept. An empty one is forgotten. */
  record(bond: Bond, turn: Turn, facts: readonly FoundFact[], atMs: number): void {
    const { owner, user, character } = bond;
    const { session, item, asked, answered, isKnown } = turn;
    this.#database.transaction(() => {
      if (asked === '' && answered === '') {
        this.#database.run('DELETE FROM turns WHERE session = ? AND item = ?', session, item);
        return;
      }
      const before = this.#database.get('SELECT id, asked FROM turns WHERE session = ? AND item = ?', session, item);
      if (before === undefined && isKnown === true) return;
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

  /** What a character remembers of earlier talks as a whole; empty where that is nothing yet. */
  summary({ owner, user, character }: Bond): string {
    const row = this.#database.get(`SELECT text FROM summaries WHERE ${ofBond}`, owner, user, character);
    return typeof row?.['text'] === 'string' ? row['text'] : '';
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

  /** Has a memory say something else, and returns it. A summary that rests on a turn that is corrected is made anew. */
  correct(person: Person, id: string, correction: Correction): MemoryRecord {
    const { table, number } = partsOf(id);
    const memory = this.get(person, id);
    this.#changing(() => {
      if (table === 'turns') {
        if (memory.kind !== 'turn' || 'text' in correction)
          throw new MemoryError('invalid_value', 'A turn is corrected by `asked` and `answered`.');
        const { asked = memory.asked, answered = memory.answered } = correction;
        this.#database.run('UPDATE turns SET asked = ?, answered = ? WHERE id = ?', asked, answered, number);
        if (asked !== memory.asked) this.#database.run('DELETE FROM facts WHERE turn = ? AND corrected = 0', number);
        this.#dropSummary(person, memory.character, number);
        return;
      }
      if (!('text' in correction))
        throw new MemoryError('invalid_value', 'A fact or a summary is corrected by `text`.');
      this.#database.run(`UPDATE ${table} SET text = ?, corrected = 1 WHERE id = ?`, correction.text, number);
    });
    return this.get(person, id);
  }

  /**
   * Forgets a memory with all that it rests on or that rests on it: a fact with the turn in which it was said, a turn with its facts,
   * and a summary of it, which is made anew from what is left.
   */
  remove(person: Person, id: string): void {
    const memory = this.get(person, id);
    const { table, number } = partsOf(id);
    this.#changing(() => {
      if (memory.kind === 'fact' && memory.source !== null) {
        const turn = partsOf(memory.source).number;
        this.#dropSummary(person, memory.character, turn);
        this.#database.run('DELETE FROM facts WHERE id = ?', number);
        this.#database.run('DELETE FROM turns WHERE id = ?', turn);
        return;
      }
      if (table === 'turns') this.#dropSummary(person, memory.character, number);
      this.#database.run(`DELETE FROM ${table} WHERE id = ?`, number);
    });
    // What was deleted does not live on in the log.
    this.#database.checkpoint();
  }

  /** Forgets everything of a person, or what one character knows. Returns how many memories there were. */
  erase(person: Person, character = ''): number {
    let count = 0;
    this.#changing(() => {
      for (const table of ['facts', 'turns', 'summaries']) {
        const sql = `DELETE FROM ${table} WHERE ${ofPerson} AND (? = '' OR character = ?)`;
        count += this.#database.run(sql, person.owner, person.user, character, character);
      }
    });
    // What was deleted does not live on in the log.
    this.#database.checkpoint();
    return count;
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
  unsummarised({ owner, user, character }: Bond): readonly TurnRow[] {
    return this.#database.all(
      `SELECT * FROM turns WHERE ${ofBond} AND summarised = 0 ORDER BY id`,
      owner,
      user,
      character,
    );
  }

  /**
   * Takes a new summary in the place of the old one, with the facts that were found on the way. False, and nothing is changed, where
   * something was corrected or deleted since `version`.
   */
  summarise(
    { owner, user, character }: Bond,
    made: {
      readonly version: string;
      readonly text: string;
      readonly turns: readonly number[];
      readonly atMs: number;
      readonly facts: readonly (FoundFact & { readonly turn: number })[];
    },
  ): boolean {
    let isDone = false;
    this.#changing(() => {
      if (this.version !== made.version) return;
      this.#database.run(
        `INSERT INTO summaries (owner, user, character, text, at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (owner, user, character) DO UPDATE SET text = excluded.text, at = excluded.at, corrected = 0`,
        owner,
        user,
        character,
        made.text,
        made.atMs,
      );
      for (const turn of made.turns) this.#database.run('UPDATE turns SET summarised = 1 WHERE id = ?', turn);
      for (const { turn, ...fact } of made.facts) this.#addFacts({ owner, user, character }, turn, [fact], made.atMs);
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

  /** A summary cannot be freed of one turn: what it held is summarised again. */
  #dropSummary({ owner, user }: Person, character: string, turn: number): void {
    const held = this.#database.get('SELECT id FROM turns WHERE id = ? AND summarised = 1', turn);
    if (held === undefined) return;
    this.#database.run(`DELETE FROM summaries WHERE ${ofBond}`, owner, user, character);
    this.#database.run(`UPDATE turns SET summarised = 0 WHERE ${ofBond}`, owner, user, character);
  }

  #changing(change: () => void): void {
    this.#database.transaction(change);
    this.#changes += 1;
  }
}

const tables = { t: 'turns', f: 'facts', s: 'summaries' } as const;

function partsOf(id: string): { readonly table: (typeof tables)[keyof typeof tables]; readonly number: number } {
  const [, letter, digits] = /^([tfs])(\d{1,15})$/.exec(id) ?? [];
  if (letter === undefined) throw notFound(id);
  return { table: tables[letter as keyof typeof tables], number: Number(digits) };
}

function notFound(id: string): MemoryError {
  return new MemoryError('memory_not_found', `There is no memory "${id.slice(0, 32)}".`);
}
