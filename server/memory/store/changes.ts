import { MemoryError, type MemoryKey, type Correction, type MemoryRecord, type UserKey } from './record.ts';
import { ofMemoryKey, ofUser, partsOf } from './rows.ts';
import { forgetStates, moveStates } from './saved.ts';
import { all, contentOf, get, purgeNote, run, unlimited, type Steps } from './steps.ts';

/** Latest turns to summarize again after a summary was dropped; each hundred costs a call of the LLM. */
const mostSummedAnew = 300;

/** Corrects a memory and what is derived from it: a fact also in its source turn, whose summary is dropped. */
export function* correctIn(person: UserKey, memory: MemoryRecord, correction: Correction): Steps<void> {
  const { table, number } = partsOf(memory.id);
  if (memory.kind === 'turn') {
    if ('text' in correction) throw new MemoryError('invalid_value', 'To correct a turn, send `asked` and `answered`.');
    const { asked = memory.asked, answered = memory.answered } = correction;
    const sealed = contentOf({ ...person, character: memory.character });
    const sql = 'UPDATE turns SET asked = ?, answered = ?, corrected = 1, extracted = 0 WHERE id = ?';
    yield* run(sql, sealed(asked), sealed(answered), number);
    if (asked !== memory.asked) yield* run('DELETE FROM facts WHERE turn = ? AND corrected = 0', number);
    yield* dropSummary({ ...person, character: memory.character }, number);
  } else {
    if (!('text' in correction)) throw new MemoryError('invalid_value', 'To correct a fact or a summary, send `text`.');
    const bond = { ...person, character: memory.character };
    const sealed = contentOf(bond);
    yield* run(`UPDATE ${table} SET text = ?, corrected = 1 WHERE id = ?`, sealed(correction.text), number);
    if (memory.kind === 'fact' && memory.source !== null) {
      const turn = partsOf(memory.source).number;
      const said = yield* all<{ asked: string }>('SELECT asked FROM turns WHERE id = ?', turn);
      const asked = said.map((one) => one.asked.replaceAll(memory.text, () => correction.text)).join('');
      yield* run('UPDATE turns SET asked = ?, corrected = 1 WHERE id = ?', sealed(asked), turn);
      yield* dropSummary(bond, turn);
    }
  }
  yield purgeNote;
}

/**
 * Deletes a memory with its sources and everything derived from it: a fact with the turns that mention it, a turn with
 * its facts and its summary, which is made again from what is left.
 */
export function* removeFrom(person: UserKey, memory: MemoryRecord): Steps<void> {
  const { table, number } = partsOf(memory.id);
  const { owner, user } = person;
  if (memory.kind === 'fact') {
    const source = memory.source === null ? -1 : partsOf(memory.source).number;
    const words = memory.text.toLowerCase();
    const turns = yield* all<{ id: number; asked: string }>(
      `SELECT id, asked FROM turns WHERE ${ofMemoryKey}`,
      owner,
      user,
      memory.character,
    );
    for (const { id, asked } of turns)
      if (id === source || (words !== '' && asked.toLowerCase().includes(words)))
        yield* forgetTurn({ ...person, character: memory.character }, id);
  }
  if (memory.kind === 'turn') yield* forgetTurn({ ...person, character: memory.character }, number);
  else yield* run(`DELETE FROM ${table} WHERE id = ?`, number);
  yield purgeNote;
}

/** Deletes a turn with its facts and its summary. */
export function* forgetTurn(bond: MemoryKey, turn: number): Steps<void> {
  yield* dropSummary(bond, turn);
  yield* run('DELETE FROM turns WHERE id = ?', turn);
  yield purgeNote;
}

/** Most turns and facts that one character keeps of one user: years of daily talk, and at most some 80 MB. */
export const mostKept = { turns: 10_000, facts: 1_000 } as const;

/**
 * Deletes a user's oldest turns and facts beyond the limits. What a turn said about the user is kept longer: its facts and the
 * summary stay. Corrected facts go last.
 */
export function* forgetOldest({ owner, user, character }: MemoryKey): Steps<void> {
  const bond = [owner, user, character];
  // Ids grow with time, so all that come after the newest one to delete are kept.
  const nextTurn = `SELECT id FROM turns WHERE ${ofMemoryKey} ORDER BY id DESC LIMIT 1 OFFSET ${mostKept.turns}`;
  const lastTurn = (yield* get(nextTurn, ...bond))?.['id'];
  if (lastTurn !== undefined) {
    yield* run(`UPDATE facts SET turn = NULL WHERE ${ofMemoryKey} AND turn <= ?`, ...bond, Number(lastTurn));
    yield* run(`DELETE FROM turns WHERE ${ofMemoryKey} AND id <= ?`, ...bond, Number(lastTurn));
  }
  const order = 'ORDER BY corrected DESC, id DESC';
  const extra = `SELECT id FROM facts WHERE ${ofMemoryKey} ${order} LIMIT ${unlimited} OFFSET ${mostKept.facts}`;
  yield* run(`DELETE FROM facts WHERE id IN (${extra})`, ...bond);
}

/**
 * Deletes up to `most` memories of a user, of one character or all. Returns the number deleted: 0 when none are left.
 */
export function* eraseFrom({ owner, user }: UserKey, character: string, most: number): Steps<number> {
  yield* forgetStates({ owner, user }, character);
  let count = 0;
  // Summaries last, because one may still be made of the remaining turns until then.
  for (const table of ['facts', 'turns', 'summaries']) {
    const some = `SELECT id FROM ${table} WHERE ${ofUser} AND (? = '' OR character = ?) LIMIT ?`;
    const sql = `DELETE FROM ${table} WHERE id IN (${some})`;
    count += yield* run(sql, owner, user, character, character, most - count);
    if (count === most) break;
  }
  if (count > 0) yield purgeNote;
  return count;
}

/** Key of the memories of one user, or of all users of a key. */
export type UserOrOwnerKey = UserKey | { readonly owner: string; readonly user?: undefined };

/** Moves the memories of one user, or of all users of a key, to another. Returns the number of memories moved. */
export function* moveIn({ owner, user = '' }: UserOrOwnerKey, to: UserOrOwnerKey): Steps<number> {
  const where = `owner = ? AND (? = '' OR "user" = ?)`;
  const whose = [owner, user, user];
  const target = [to.owner, to.user ?? null];
  // Two summaries cannot be merged: the turns of one are summarized again on top of the other.
  const met = yield* all<{ id: number; user: string; character: string }>(
    `SELECT id, "user", character FROM summaries AS s WHERE ${where} AND EXISTS (SELECT 1 FROM summaries AS o
     WHERE o.id <> s.id AND o.owner = ? AND o."user" = coalesce(?, s."user") AND o.character = s.character)`,
    ...whose,
    ...target,
  );
  for (const { id, user: one, character } of met) {
    yield* run('DELETE FROM summaries WHERE id = ?', id);
    yield* run(`UPDATE turns SET summarised = 0 WHERE ${ofMemoryKey}`, owner, one, character);
  }
  let count = met.length;
  for (const table of ['summaries', 'facts', 'turns'])
    count += yield* run(
      `UPDATE ${table} SET owner = ?, "user" = coalesce(?, "user") WHERE ${where}`,
      ...target,
      ...whose,
    );
  yield* moveStates(where, whose, target);
  if (count > 0) yield purgeNote;
  return count;
}

/**
 * Deletes the summary that covers a turn; its turns are summarized again, unless the user had corrected the summary.
 */
function* dropSummary({ owner, user, character }: MemoryKey, turn: number): Steps<void> {
  const held = yield* get('SELECT id FROM turns WHERE id = ? AND summarised = 1', turn);
  if (held === undefined) return;
  const bond = [owner, user, character];
  const summary = yield* get(`SELECT corrected FROM summaries WHERE ${ofMemoryKey}`, ...bond);
  yield* run(`DELETE FROM summaries WHERE ${ofMemoryKey}`, ...bond);
  if (summary?.['corrected'] === 1) return;
  const latest = `SELECT id FROM turns WHERE ${ofMemoryKey} ORDER BY id DESC LIMIT ${mostSummedAnew}`;
  yield* run(`UPDATE turns SET summarised = 0 WHERE id IN (${latest})`, ...bond);
}
