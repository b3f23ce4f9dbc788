import type { MemoryKey } from './record.ts';
import { all, Content, get, placeholders, run, type Steps } from './steps.ts';

/** A memory with a stored embedding; not a summary, which is always included. */
export interface EmbeddedMemory {
  /** As in `MemoryRecord`. */
  readonly id: string;
  readonly text: string;
}

/** Returns the stored embeddings of these memories for one model, by id. */
export function* embeddingsIn(model: string, ids: readonly string[]): Steps<ReadonlyMap<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for (const letter of ['t', 'f'] as const) {
    const numbers = ids.filter((id) => id.startsWith(letter)).map(numberOf);
    if (numbers.length === 0) continue;
    const column = columnOf(letter);
    const rows = yield* all<{ id: number; point: Uint8Array }>(
      `SELECT ${column} AS id, point FROM points WHERE model = ? AND ${column} IN (${placeholders(numbers.length)})`,
      model,
      ...numbers,
    );
    for (const { id, point } of rows) found.set(`${letter}${id}`, embeddingIn(point));
  }
  return found;
}

/**
 * Stores the embedding of a memory, for one model at a time. It is deleted with its memory, and when that is corrected
 * (`schema.ts`). Not stored if the memory's text has changed.
 */
export function* saveEmbeddingIn(model: string, { id, text }: EmbeddedMemory, embedding: Float32Array): Steps<void> {
  const bytes = new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
  const column = columnOf(id);
  const [table, words] = column === 'turn' ? ['turns', ['asked', 'answered']] : ['facts', ['text']];
  const standing = yield* get(`SELECT * FROM ${table} WHERE id = ?`, numberOf(id));
  if (standing === undefined || words.map((name) => standing[name]).join('\n') !== text) return;
  yield* run(
    `INSERT INTO points (${column}, model, point) VALUES (?, ?, ?)
     ON CONFLICT (${column}) DO UPDATE SET model = excluded.model, point = excluded.point`,
    numberOf(id),
    model,
    new Content(bytes, keyOf(standing)),
  );
}

function columnOf(id: string): 'turn' | 'fact' {
  return id.startsWith('t') ? 'turn' : 'fact';
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}

/** Copies the bytes, because a buffer from a database need not be aligned to 4 bytes. */
function embeddingIn(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 4));
}

/** The key of the memories to which a row belongs. */
function keyOf(row: Readonly<Record<string, unknown>>): MemoryKey {
  return { owner: String(row['owner']), user: String(row['user']), character: String(row['character']) };
}
