import { withinTokens } from '../../agents/llm/token-estimate.ts';
import type { Message } from '../../agents/chat.ts';
import type { SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import { openMemoryIndex, type Memory, type MemoryIndex } from '../../agents/memory/memory-index.ts';
import { talkWindow, usualHistoryTokens } from '../../agents/prompting/talk-window.ts';
import type { MemoryKey, MemoryRecord } from './store/record.ts';
import type { AsyncStore } from './store/operations.ts';
import { EngineError } from '../../voices/engine.ts';
import type { EmbeddedMemory } from './store/embedding-queries.ts';

/** Caps on the indexed memories of a user, latest first; older ones are covered by the summary. */
const most = { turns: 1_500, facts: 500 };

/** Memories indexed per batch; each batch blocks the event loop. */
const chunk = 25;

const mostFound = 5;

/** Number of latest facts that are always included, for any topic. */
const latestFacts = 5;

/** Budget for memories in a prompt, in estimated tokens, not counting the summary. */
const budgetTokens = 400;

type Fact = Extract<MemoryRecord, { kind: 'fact' }>;

/** Memories for a conversation, a line each: the summary, matches for the last message, the latest facts. */
export interface Recall {
  /** `point`: embedding of the last user message, if available. */
  (history: readonly Message[], embedding?: Float32Array): Promise<string[]>;
  /** Indexes the memories stored since the last call. */
  read(): Promise<void>;
}

/** Parts for recall by embedding, until the conversation ends. */
export interface SemanticRecall {
  readonly embedder: SharedEmbedder;
  readonly keep: AsyncStore['keepEmbedding'];
  readonly signal: AbortSignal;
  readonly onFault: (fault: unknown) => void;
}

/** Reads of recall. */
type RecallReader = Pick<AsyncStore, 'recall' | 'standing' | 'summary' | 'embeddings'>;

/** Opens recall for a user and a character. Lines are read from the store when used: none shows a deleted memory. */
export function openRecall(
  store: RecallReader,
  bond: MemoryKey,
  now: () => number,
  byEmbedding?: SemanticRecall,
): Recall {
  const index = openMemoryIndex();
  const place = byEmbedding && openRecallEmbeddings({ ...byEmbedding, store, index });
  const read = { turn: 0, fact: 0 };
  const facts: string[] = [];

  const addLater = (memories: readonly Memory[]): void => {
    const latest = memories.slice(-chunk);
    index.add(latest);
    void place?.(latest);
    if (memories.length > chunk) setImmediate(() => addLater(memories.slice(0, -chunk)));
  };

  const readNow = async (): Promise<void> => {
    const fresh = await store.recall(bond, read, most);
    for (const { id, kind } of fresh) {
      if (kind === 'summary') continue;
      read[kind] = Math.max(read[kind], Number(id.slice(1)));
      if (kind === 'fact') facts.push(id);
    }
    // Indexes the latest at once and older ones in the background, because the conversation has just started.
    addLater(fresh.map((memory) => ({ id: memory.id, text: wordsOf(memory), atMs: Date.parse(memory.at) })));
  };

  // One after the other, so that nothing is indexed twice.
  let reading = Promise.resolve();
  const readNew = (): Promise<void> => (reading = reading.then(readNow, readNow));

  const recall = async (history: readonly Message[], embedding?: Float32Array): Promise<string[]> => {
    await readNew();
    const heard = talkWindow(history, usualHistoryTokens)
      .map(({ text }) => text)
      .join('\n');
    const isNews = (memory: MemoryRecord): boolean =>
      memory.kind !== 'turn' || !(heard.includes(memory.asked) && heard.includes(memory.answered));
    const userMessage = history.findLast(({ role }) => role === 'user')?.text ?? '';
    const found = await standing(store, bond, index.find(userMessage, now(), embedding), mostFound, isNews);
    const known = new Set(found.map(({ id }) => id));
    const others = facts.filter((id) => !known.has(id)).toReversed();
    const latest = (await standing(store, bond, others, latestFacts, () => true)) as Fact[];
    // A fact is included once: leave out the turn that it was extracted from.
    const sources = new Set([...found, ...latest].map((memory) => (memory.kind === 'fact' ? memory.source : null)));
    const lines = [...latest, ...found].filter(({ id }) => !sources.has(id)).map((memory) => lineOf(memory, now()));
    const summary = await store.summary(bond);
    return [...(summary === '' ? [] : [`Of your talks so far: ${summary}`]), ...withinTokens(lines, budgetTokens)];
  };
  return Object.assign(recall, { read: readNew });
}

/** Memories looked up at once; the first few are usually wanted. */
const atOnce = 10;

/** Returns the first `most` of these memories that still exist and are wanted. */
async function standing(
  store: RecallReader,
  bond: MemoryKey,
  ids: readonly string[],
  most: number,
  isWanted: (memory: MemoryRecord) => boolean,
): Promise<MemoryRecord[]> {
  const found: MemoryRecord[] = [];
  for (let at = 0; at < ids.length && found.length < most; at += atOnce)
    found.push(...(await store.standing(bond, ids.slice(at, at + atOnce))).filter(isWanted));
  return found.slice(0, most);
}

function wordsOf(memory: MemoryRecord): string {
  return memory.kind === 'turn' ? `${memory.asked}\n${memory.answered}` : memory.text;
}

function lineOf(memory: MemoryRecord, nowMs: number): string {
  const when = agoOf(nowMs - Date.parse(memory.at));
  if (memory.kind !== 'turn') return `They told you ${when}: ${memory.text}`;
  const { asked, answered } = memory;
  if (asked === '') return `You said ${when}: ${answered}`;
  return `They said ${when}: ${asked}${answered === '' ? '' : ` You answered: ${answered}`}`;
}

const dayMs = 24 * 3_600_000;

function agoOf(ms: number): string {
  const days = Math.floor(ms / dayMs);
  if (days < 1) return 'today';
  if (days < 2) return 'yesterday';
  if (days < 60) return `${days} days ago`;
  return `${Math.floor(days / 30)} months ago`;
}

interface RecallEmbeddingParts {
  readonly embedder: SharedEmbedder;
  readonly store: Pick<RecallReader, 'embeddings'>;
  readonly keep: AsyncStore['keepEmbedding'];
  readonly index: Pick<MemoryIndex, 'place'>;
  /** Aborted at the end of the conversation. */
  readonly signal: AbortSignal;
  /** Called, without content, for faults other than engine errors. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * Adds embeddings to indexed memories: stored ones at once, the others in the background as the embedder returns them;
 * those are then stored. Memories without an embedding are found by keywords and embedded in the next conversation.
 */
function openRecallEmbeddings({ embedder, store, keep, index, signal, onFault }: RecallEmbeddingParts) {
  const { model } = embedder;
  const embed = async (memories: readonly EmbeddedMemory[]): Promise<void> => {
    const embeddings = await embedder.embed(
      memories.map(({ text }) => text),
      { signal },
    );
    for (const [at, memory] of memories.entries()) {
      const embedding = embeddings[at];
      if (embedding === undefined || signal.aborted) continue;
      index.place(memory.id, embedding);
      await keep(model, memory, embedding);
    }
  };
  const place = async (memories: readonly EmbeddedMemory[]): Promise<void> => {
    const known = await store.embeddings(
      model,
      memories.map(({ id }) => id),
    );
    for (const [id, embedding] of known) index.place(id, embedding);
    const others = memories.filter(({ id }) => !known.has(id));
    if (others.length > 0 && !signal.aborted) await embed(others);
  };
  return (memories: readonly EmbeddedMemory[]): Promise<void> =>
    place(memories).catch((fault: unknown) => {
      if (!signal.aborted && !(fault instanceof EngineError)) onFault(fault);
    });
}
