import { correctIn, eraseFrom, forgetOldest, forgetTurn, moveIn, removeFrom } from './changes.ts';
import { keepStateIn, loadIn, savedIn, statesIn } from './saved.ts';
import { embeddingsIn, saveEmbeddingIn } from './embedding-queries.ts';
import { pageIn } from './exported.ts';
import type { Correction, FoundFact, MemoryKey, MemoryRecord, Turn, UserKey } from './record.ts';
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
import { all, Content, get, placeholders, run, unlimited, type Steps } from './steps.ts';
import {
  freshFactsIn,
  isCurrentIn,
  nextSummaryInputIn,
  summaryIn,
  unsummarisedIn,
  type NewSummary,
} from './summary-queries.ts';

/** A user and character with memories, and how many. */
export interface Remembered extends MemoryKey {
  readonly turns: number;
  readonly facts: number;
  /** ISO 8601, UTC. */
  readonly lastAt: string;
}

/** Stores or updates a turn and its facts. Deletes the turn if it is empty. */
function* record(bond: MemoryKey, turn: Turn, facts: readonly FoundFact[], atMs: number): Steps<void> {
  const { owner, user, character } = bond;
  const { session, item, asked, answered, isKnown } = turn;
  const sql = 'SELECT id, asked, corrected FROM turns WHERE session = ? AND item = ?';
  const before = yield* get(sql, session, item);
  if (asked === '' && answered === '') {
    if (before !== undefined) yield* forgetTurn(bond, Number(before['id']));
    return;
  }
  if (before === undefined ? isKnown === true : before['corrected'] === 1) return;
  const kept = yield* get(
    `INSERT INTO turns (owner, "user", character, session, item, asked, answered, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, item) DO UPDATE SET asked = excluded.asked, answered = excluded.answered RETURNING id`,
    owner,
    user,
    character,
    session,
    item,
    new Content(asked, bond),
    new Content(answered, bond),
    atMs,
  );
  if (before?.['asked'] === asked) return;
  const id = Number(kept?.['id']);
  if (before !== undefined) yield* run('DELETE FROM facts WHERE turn = ? AND corrected = 0', id);
  yield* addFacts(bond, id, facts, atMs);
  if (before === undefined) yield* forgetOldest(bond);
}

function* addFacts(bond: MemoryKey, turn: number, facts: readonly FoundFact[], atMs: number): Steps<void> {
  if (facts.length === 0) return;
  const whose = [bond.owner, bond.user, bond.character];
  for (const { topic, text } of facts) {
    if (topic !== undefined)
      yield* run(`DELETE FROM facts WHERE ${ofMemoryKey} AND topic = ? AND corrected = 0`, ...whose, topic);
    const known = yield* all<{ text: string }>(`SELECT text FROM facts WHERE ${ofMemoryKey}`, ...whose);
    if (known.some((one) => one.text.toLowerCase() === text.toLowerCase())) continue;
    yield* run(
      'INSERT INTO facts (owner, "user", character, turn, topic, text, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...whose,
      turn,
      topic ?? null,
      new Content(text, bond),
      atMs,
    );
  }
}

/** Returns the memories with ids after `read`, facts then turns, oldest first; the latest `most` of each kind. */
function* recall(
  { owner, user, character }: MemoryKey,
  read: { readonly turn: number; readonly fact: number },
  most: { readonly turns: number; readonly facts: number },
): Steps<MemoryRecord[]> {
  const bond = [owner, user, character];
  const latest = (table: 'turns' | 'facts'): string =>
    `SELECT * FROM ${table} WHERE ${ofMemoryKey} AND id > ? ORDER BY id DESC LIMIT ?`;
  const turns = yield* all<TurnRow>(latest('turns'), ...bond, read.turn, most.turns);
  const facts = yield* all<FactRow>(latest('facts'), ...bond, read.fact, most.facts);
  return [...facts.toReversed().map(recordOf.facts), ...turns.toReversed().map(recordOf.turns)];
}

/** Returns those of these memories that the user still has, in this order. */
function* standing(person: UserKey, ids: readonly string[]): Steps<MemoryRecord[]> {
  const found = new Map<string, MemoryRecord>();
  for (const [table, here] of Map.groupBy(ids.map(partsOf), (parts) => parts.table)) {
    const sql = `SELECT * FROM ${table} WHERE ${ofUser} AND id IN (${placeholders(here.length)})`;
    const rows = yield* all<TurnRow | FactRow>(sql, person.owner, person.user, ...here.map(({ number }) => number));
    for (const row of rows) {
      const memory = recordOf[table](row as never);
      found.set(memory.id, memory);
    }
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * Returns all memories of a user, newest first, of one character or all; of turns, the latest `most` before the turn
 * `before`. With `before`, turns only.
 */
function* list(
  person: UserKey,
  options: { readonly character?: string; readonly most?: number; readonly before?: string } = {},
): Steps<MemoryRecord[]> {
  const { character = '', most = unlimited, before } = options;
  const where = `${ofUser} AND (? = '' OR character = ?)`;
  const whose = [person.owner, person.user, character, character];
  const until = before === undefined ? Number.MAX_SAFE_INTEGER : partsOf(before).number;
  const newest = `SELECT * FROM turns WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ?`;
  const turns = yield* all<TurnRow>(newest, ...whose, until, most);
  if (before !== undefined) return turns.map(recordOf.turns);
  const summaries = yield* all<SummaryRow>(`SELECT * FROM summaries WHERE ${where} ORDER BY id DESC`, ...whose);
  const facts = yield* all<FactRow>(`SELECT * FROM facts WHERE ${where} ORDER BY id DESC`, ...whose);
  return [...summaries.map(recordOf.summaries), ...facts.map(recordOf.facts), ...turns.map(recordOf.turns)];
}

/** Returns one memory of a user. Throws `MemoryError` if they have none with that id. */
function* getOne(person: UserKey, id: string): Steps<MemoryRecord> {
  const [memory] = yield* standing(person, [id]);
  if (memory === undefined) throw notFound(id);
  return memory;
}

/** Corrects a memory and everything derived from it; returns the corrected memory. */
function* correct(person: UserKey, id: string, correction: Correction): Steps<MemoryRecord> {
  yield* correctIn(person, yield* getOne(person, id), correction);
  return yield* getOne(person, id);
}

/** Deletes a memory with its sources and everything derived from it. */
function* remove(person: UserKey, id: string): Steps<void> {
  yield* removeFrom(person, yield* getOne(person, id));
}

/** Deletes up to `most` memories of a user, of one character or all. Returns the number deleted. */
function* erase(person: UserKey, character = '', most = unlimited): Steps<number> {
  return yield* eraseFrom(person, character, most);
}

/** Returns every user and character with memories, and how many, the latest first. */
function* people(): Steps<Remembered[]> {
  const rows = yield* all<MemoryKey & { turns: number; lastAt: number; facts: number }>(
    `SELECT owner, "user", character, COUNT(*) AS turns, MAX(at) AS "lastAt",
     (SELECT COUNT(*) FROM facts AS f WHERE f.owner = t.owner AND f."user" = t."user" AND f.character = t.character) AS facts
     FROM turns AS t GROUP BY owner, "user", character ORDER BY "lastAt" DESC, owner, "user", character`,
  );
  return rows.map((row) => ({ ...row, lastAt: new Date(row.lastAt).toISOString() }));
}

/** Replaces the summary and adds its facts; false, without changes, if a source was corrected or deleted. */
function* summarise({ owner, user, character }: MemoryKey, made: NewSummary): Steps<boolean> {
  const bond = { owner, user, character };
  if (!(yield* isCurrentIn(bond, made))) return false;
  yield* run(
    `INSERT INTO summaries (owner, "user", character, text, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (owner, "user", character) DO UPDATE SET text = excluded.text, at = excluded.at, corrected = 0`,
    owner,
    user,
    character,
    new Content(made.text, bond),
    made.atMs,
  );
  for (const { turn, ...fact } of yield* freshFactsIn(made)) yield* addFacts(bond, turn, [fact], made.atMs);
  for (const { id } of made.turns) yield* run('UPDATE turns SET summarised = 1, extracted = 1 WHERE id = ?', id);
  return true;
}

/** Operations on memories, the same in every database. */
export const operations = {
  record,
  recall,
  standing,
  list,
  get: getOne,
  correct,
  remove,
  erase,
  people,
  summarise,
  embeddings: embeddingsIn,
  keepEmbedding: saveEmbeddingIn,
  /** Returns the summary of earlier conversations; empty if there is none yet. */
  summary: summaryIn,
  page: pageIn,
  move: moveIn,
  keepState: keepStateIn,
  states: statesIn,
  saved: savedIn,
  load: loadIn,
  unsummarised: unsummarisedIn,
  /** Returns the turns to be summarized next; undefined if there are none. */
  outgrown: nextSummaryInputIn,
} as const;

type Operations = typeof operations;
export type Operation = keyof Operations;
export type ArgsOf<Name extends Operation> = Parameters<Operations[Name]>;
export type ResultOf<Name extends Operation> =
  ReturnType<Operations[Name]> extends Steps<infer Result> ? Result : never;

/**
 * Memories as sessions and requests use them: in a file, or in PostgreSQL. Each call throws `MemoryError`; one that has
 * settled has done what its operation does.
 */
export type AsyncStore = {
  readonly [Name in Exclude<Operation, 'erase' | 'unsummarised'>]: (...args: ArgsOf<Name>) => Promise<ResultOf<Name>>;
} & {
  /** Deletes all memories of a user, or of one character. Returns their number. */
  erase(person: UserKey, character?: string): Promise<number>;
  /** Finishes pending jobs, and closes. */
  close(): Promise<void>;
};
