import { MemoryError, type MemoryKey, type UserKey } from './record.ts';
import { ofUser } from './rows.ts';
import { all, Content, contentOf, placeholders, purgeNote, run, type Steps, type Value } from './steps.ts';

/** Part of a user's state with one character, such as its feelings; of no character (empty), such as the world of a game. */
export interface KeptState {
  readonly character: string;
  readonly name: string;
  /** JSON. */
  readonly value: string;
  /** Unix time in milliseconds at which it was kept. */
  readonly at: number;
}

/** All that is kept of one user, without the ids of this database. */
export interface SavedUser {
  readonly turns: readonly {
    readonly character: string;
    readonly asked: string;
    readonly answered: string;
    readonly at: number;
    readonly summarised: number;
    readonly corrected: number;
    readonly extracted: number;
  }[];
  /** `turn`: place of its source among the turns; null if it has none. */
  readonly facts: readonly {
    readonly character: string;
    readonly turn: number | null;
    readonly topic: string | null;
    readonly text: string;
    readonly at: number;
    readonly corrected: number;
  }[];
  readonly summaries: readonly {
    readonly character: string;
    readonly text: string;
    readonly at: number;
    readonly corrected: number;
  }[];
  readonly states: readonly Omit<KeptState, 'at'>[];
}

/** Replaces an earlier state by a new one. */
export function* keepStateIn(
  { owner, user, character }: MemoryKey,
  { name, value, at }: Omit<KeptState, 'character'>,
): Steps<void> {
  yield* run(
    `INSERT INTO states (owner, "user", character, name, value, at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (owner, "user", character, name) DO UPDATE SET value = excluded.value, at = excluded.at`,
    owner,
    user,
    character,
    name,
    new Content(value, { owner, user, character }),
    at,
  );
}

/** Returns the states of a user with these characters, or all, and those of no character. */
export function* statesIn(person: UserKey, characters?: readonly string[]): Steps<readonly KeptState[]> {
  const { where, values } = scopeOf(person, characters);
  const sql = `SELECT character, name, value, at FROM states WHERE ${where} ORDER BY character, name`;
  return yield* all<KeptState>(sql, ...values);
}

/** Returns all that is kept of a user; `only`: of these characters, and of none. */
export function* savedIn(person: UserKey, only?: readonly string[]): Steps<SavedUser> {
  const { where, values } = scopeOf(person, only);
  const turns = yield* all<SavedUser['turns'][number] & { id: number }>(
    `SELECT id, character, asked, answered, at, summarised, corrected, extracted FROM turns WHERE ${where} ORDER BY id`,
    ...values,
  );
  const places = new Map(turns.map(({ id }, place) => [id, place]));
  const facts = yield* all<SavedUser['facts'][number]>(
    `SELECT character, turn, topic, text, at, corrected FROM facts WHERE ${where} ORDER BY id`,
    ...values,
  );
  const summaries = yield* all<SavedUser['summaries'][number]>(
    `SELECT character, text, at, corrected FROM summaries WHERE ${where} ORDER BY character`,
    ...values,
  );
  const states = yield* all<SavedUser['states'][number]>(
    `SELECT character, name, value FROM states WHERE ${where} ORDER BY character, name`,
    ...values,
  );
  return {
    turns: turns.map(({ id: _id, ...turn }) => turn),
    facts: facts.map(({ turn, ...fact }) => ({ ...fact, turn: turn === null ? null : (places.get(turn) ?? null) })),
    summaries: summaries.map((summary) => ({ ...summary })),
    states: states.map((state) => ({ ...state })),
  };
}

/** Rows written by one statement. */
const pageSize = 100;

/**
 * Replaces all data of a user by the save: later data is deleted. `session`: new, names the loaded
 * turns; `at`: time of the loaded states.
 */
export function* loadIn(
  person: UserKey,
  saved: SavedUser,
  {
    session,
    at,
    only,
  }: { readonly session: string; readonly at: number; readonly only?: readonly string[] | undefined },
): Steps<void> {
  const { where, values } = scopeOf(person, only);
  const { owner, user } = person;
  for (const table of ['facts', 'turns', 'summaries', 'states'])
    yield* run(`DELETE FROM ${table} WHERE ${where}`, ...values);
  const ids: number[] = [];
  for (const turns of pagesOf(saved.turns.map((turn, place) => ({ ...turn, place })))) {
    const names = 'owner, "user", character, session, item, asked, answered, at, summarised, corrected, extracted';
    const rows = turns.map(({ character, asked, answered, at: atMs, summarised, corrected, extracted, place }) => {
      const sealed = contentOf({ owner, user, character });
      const spoken = [sealed(asked), sealed(answered)];
      return [owner, user, character, session, `${place}`, ...spoken, atMs, summarised, corrected, extracted];
    });
    const written = yield* all<{ id: number; item: string }>(
      `INSERT INTO turns (${names}) VALUES ${tuples(rows)} RETURNING id, item`,
      ...rows.flat(),
    );
    for (const { id, item } of written) ids[Number(item)] = id;
  }
  const facts = saved.facts.map(({ character, turn, topic, text, at: atMs, corrected }) => {
    const source = turn === null ? null : ids[turn];
    if (source === undefined)
      throw new MemoryError('invalid_value', 'A fact in the save names a turn that is not in the save.');
    return [owner, user, character, source, topic, new Content(text, { owner, user, character }), atMs, corrected];
  });
  yield* insert('facts (owner, "user", character, turn, topic, text, at, corrected)', facts);
  const summaries = saved.summaries.map(({ character, text, at: atMs, corrected }) => {
    return [owner, user, character, new Content(text, { owner, user, character }), atMs, corrected];
  });
  yield* insert('summaries (owner, "user", character, text, at, corrected)', summaries);
  const states = saved.states.map(({ character, name, value }) => {
    return [owner, user, character, name, new Content(value, { owner, user, character }), at];
  });
  yield* insert('states (owner, "user", character, name, value, at)', states);
  yield purgeNote;
}

/** Deletes the states of a user with one character, or all. */
export function* forgetStates({ owner, user }: UserKey, character: string): Steps<void> {
  const sql = `DELETE FROM states WHERE ${ofUser} AND (? = '' OR character = ?)`;
  if ((yield* run(sql, owner, user, character, character)) > 0) yield purgeNote;
}

/** Moves states with the memories they belong to; those that the target has are replaced. */
export function* moveStates(where: string, whose: readonly Value[], target: readonly Value[]): Steps<void> {
  yield* run(
    `DELETE FROM states WHERE id IN (SELECT o.id FROM states AS s JOIN states AS o ON o.owner = ? AND o."user" = coalesce(?, s."user")
     AND o.character = s.character AND o.name = s.name AND o.id <> s.id WHERE s.id IN (SELECT id FROM states WHERE ${where}))`,
    ...target,
    ...whose,
  );
  yield* run(`UPDATE states SET owner = ?, "user" = coalesce(?, "user") WHERE ${where}`, ...target, ...whose);
}

function scopeOf({ owner, user }: UserKey, only: readonly string[] | undefined) {
  if (only === undefined) return { where: ofUser, values: [owner, user] };
  return { where: `${ofUser} AND character IN ('', ${placeholders(only.length)})`, values: [owner, user, ...only] };
}

function* pagesOf<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += pageSize) yield rows.slice(at, at + pageSize);
}

function* insert(into: string, all: readonly (readonly Value[])[]): Steps<void> {
  for (const rows of pagesOf(all)) yield* run(`INSERT INTO ${into} VALUES ${tuples(rows)}`, ...rows.flat());
}

function tuples(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => `(${placeholders(row.length)})`).join(', ');
}
