import type { Database } from './database.ts';

/** A memory with a stored embedding; not a summary, which is always included. */
export interface EmbeddedMemory {
  /** As in `MemoryRecord`. */
  readonly id: string;
  readonly text: string;
}

/** Returns the stored embeddings of these memories for one model, by id. */
export function embeddingsIn(database: Database, model: string, ids: readonly string[]): Map<string, Float32Array> {
  const found = new Map<string, Float32Array>();
  for (const id of ids) {
    const row = database.get(`SELECT point FROM points WHERE ${columnOf(id)} = ? AND model = ?`, numberOf(id), model);
    const bytes = row?.['point'];
    if (bytes instanceof Uint8Array) found.set(id, embeddingIn(bytes));
  }
  return found;
}

/**
 * Stores the embedding of a memory, for one model at a time. It is deleted with its memory, and when that is corrected
 * (`schema.ts`). Not stored if the memory's text has changed.
 */
export function saveEmbeddingIn(
  database: Database,
  model: string,
  { id, text }: EmbeddedMemory,
  embedding: Float32Array,
): void {
  const bytes = new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
  const column = columnOf(id);
  const standing =
    column === 'turn' ? 'turns WHERE id = ? AND asked || char(10) || answered = ?' : 'facts WHERE id = ? AND text = ?';
  database.run(
    `INSERT OR REPLACE INTO points (${column}, model, point) SELECT id, ?, ? FROM ${standing}`,
    model,
    bytes,
    numberOf(id),
    text,
  );
}

function columnOf(id: string): 'turn' | 'fact' {
  return id.startsWith('t') ? 'turn' : 'fact';
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}

/** Copies the bytes, because a buffer from SQLite need not be aligned to 4 bytes. */
function embeddingIn(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 4));
}
