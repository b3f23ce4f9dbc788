import type { Meanings } from '../../agents/embeddings/embedding-index.ts';
import type { Recollection } from '../../agents/memory/recollection.ts';
import { EngineError } from '../../voices/engine.ts';
import type { PointedMemory } from './points.ts';
import type { MemoryStore } from './store.ts';
import type { StoreThread } from './store-thread.ts';

export interface RecallPointsParts {
  readonly meanings: Meanings;
  readonly store: Pick<MemoryStore, 'points'>;
  readonly keep: StoreThread['keepPoint'];
  readonly index: Pick<Recollection, 'place'>;
  /** Aborted at the end of the conversation. */
  readonly signal: AbortSignal;
  /** Called, without content, for faults other than engine errors. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * Adds embeddings to indexed memories: stored ones at once, the others in the background as the embedder returns them;
 * those are then stored. Memories without an embedding are found by keywords and embedded in the next conversation.
 */
export function openRecallPoints({ meanings, store, keep, index, signal, onFault }: RecallPointsParts) {
  const { model } = meanings;
  const embed = async (memories: readonly PointedMemory[]): Promise<void> => {
    const points = await meanings.embed(
      memories.map(({ text }) => text),
      { signal },
    );
    for (const [at, memory] of memories.entries()) {
      const point = points[at];
      if (point === undefined || signal.aborted) continue;
      index.place(memory.id, point);
      await keep(model, memory, point);
    }
  };
  return (memories: readonly PointedMemory[]): void => {
    const known = store.points(
      model,
      memories.map(({ id }) => id),
    );
    for (const [id, point] of known) index.place(id, point);
    const others = memories.filter(({ id }) => !known.has(id));
    if (others.length === 0 || signal.aborted) return;
    embed(others).catch((fault: unknown) => {
      if (!signal.aborted && !(fault instanceof EngineError)) onFault(fault);
    });
  };
}
