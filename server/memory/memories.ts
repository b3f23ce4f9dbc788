import type { ChatModel } from '../../agents/chat.ts';
import type { SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import { MemoryError, type UserKey } from './store/record.ts';
import { SessionMemory, type SessionMemoryParts } from './session-memory.ts';
import type { AsyncStore } from './store/operations.ts';
import { memoryFile } from './store/store.ts';
import { openStoreThread } from './store/store-thread.ts';
import { openSummaries } from './summaries.ts';

/** The memory subsystem of a server. */
export interface Memories {
  readonly state: 'on' | 'off' | 'unavailable';
  /** The store; access throws `MemoryError` if memory is off or its database cannot be read. */
  readonly store: AsyncStore;
  /** Turns whose end their client knows that are not stored yet; they are once the database answers. */
  readonly unkept: number;
  /** Opens the memory of a session with this character; undefined if memory is off or unavailable. */
  follow(
    owner: UserKey['owner'],
    character: Character,
    told: Pick<SessionMemoryParts, 'onFault' | 'onLoss'>,
  ): SessionMemory | undefined;
  /** Stores the open turns, aborts running summaries, and closes the database. */
  close(): Promise<void>;
}

export interface MemoriesParts {
  readonly config: Pick<Config, 'memory' | 'dataDir' | 'postgresUrl' | 'memoryKeysUrl'>;
  readonly chatModel: ChatModel | undefined;
  /** Embeddings, for semantic recall. */
  readonly embedder?: SharedEmbedder | undefined;
  readonly characters: ReadonlyMap<string, Character>;
  /** Called, without content, if memories cannot be opened or summarized. */
  readonly onFault: (fault: unknown) => void;
  /** See `openPostgresStore`. */
  readonly patience?: number | undefined;
  /** Called when a database that was gone answers again. */
  readonly onBack?: () => void;
}

/** Memories of the open sessions, and of ended ones whose last turns are not stored yet. */
class Followed {
  readonly #memories = new Set<SessionMemory>();

  get unkept(): number {
    return [...this.#memories].reduce((sum, memory) => sum + memory.unkept, 0);
  }

  add(memory: SessionMemory): void {
    this.#memories.add(memory);
  }

  /** Lets go of ended sessions. */
  tidy(): void {
    const ended = [...this.#memories].filter(({ hasEnded }) => hasEnded);
    const waiting = ended.filter(({ unkept }) => unkept > 0).slice(-mostWaiting);
    for (const memory of ended) if (!waiting.includes(memory)) this.#memories.delete(memory);
  }

  /** Stores what could not be stored before. */
  async retry(): Promise<void> {
    await Promise.all([...this.#memories].map((memory) => memory.retry()));
    this.tidy();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#memories].map((memory) => memory.close()));
    await this.retry();
  }
}

/** Ended sessions whose last turns wait for the database; beyond that, the oldest are lost. */
const mostWaiting = 1_000;

/** Opens the memories if they are enabled. If they cannot be read, reports it and continues without. */
export async function openMemories(parts: MemoriesParts): Promise<Memories> {
  const { config, chatModel, embedder, characters, onBack } = parts;
  const onFault = lossOnceAMinute(parts.onFault);
  if (!config.memory)
    return without(
      'off',
      new MemoryError('memory_off', 'Memory is disabled on this server. Enable it with DRAMATIS_MEMORY.'),
    );
  const followed = new Followed();
  const onChange = (isThere: boolean, fault?: unknown): void => {
    if (!isThere) return onFault(fault);
    onBack?.();
    void followed.retry();
  };
  let opened: Opened;
  try {
    opened = await open(parts, onChange);
  } catch (fault) {
    if (!(fault instanceof MemoryError)) throw fault;
    onFault(fault);
    return without(
      'unavailable',
      new MemoryError('memory_unavailable', 'The memory database of this server cannot be read. See its log.'),
    );
  }
  const { store, isThere } = opened;
  const nameOf = (id: string): string => characters.get(id)?.name ?? id;
  const summaries = openSummaries({ store, chatModel, nameOf, now: Date.now, onFault });
  return {
    get state() {
      return isThere() ? 'on' : 'unavailable';
    },
    store,
    get unkept() {
      return followed.unkept;
    },
    follow(owner, { id: character }, told) {
      const memory: SessionMemory = new SessionMemory({
        store,
        owner,
        character,
        now: Date.now,
        embedder,
        ...told,
        onTurn: (bond) => summaries.consider(bond),
        onEnd(bond) {
          followed.tidy();
          if (bond !== undefined) summaries.consider(bond, true);
        },
      });
      followed.add(memory);
      return memory;
    },
    async close() {
      await followed.close();
      await summaries.close();
      await store.close();
    },
  };
}

interface Opened {
  readonly store: AsyncStore;
  /** True if the database answers, as far as is known. */
  readonly isThere: () => boolean;
}

async function open(
  { config: { dataDir, postgresUrl: url, memoryKeysUrl: keysUrl }, patience }: MemoriesParts,
  onChange: (isThere: boolean, fault?: unknown) => void,
): Promise<Opened> {
  if (url === undefined) return { store: await openStoreThread(memoryFile(dataDir)), isThere: () => true };
  // Loaded only if it is configured.
  const { openPostgresStore } = await import('./postgres/postgres-store.ts');
  const store = await openPostgresStore({ url, keysUrl, onChange, patience });
  return { store, isThere: () => store.isThere };
}

/** Reports faults, but a database that comes and goes once a minute only. */
function lossOnceAMinute(report: (fault: unknown) => void): (fault: unknown) => void {
  let toldAtMs = -Infinity;
  return (fault) => {
    const isLoss = fault instanceof MemoryError && fault.code === 'memory_unavailable';
    if (isLoss && Date.now() - toldAtMs < 60_000) return;
    if (isLoss) toldAtMs = Date.now();
    report(fault);
  };
}

function without(state: Memories['state'], problem: MemoryError): Memories {
  return {
    state,
    unkept: 0,
    get store(): AsyncStore {
      throw problem;
    },
    follow: () => undefined,
    close: async () => undefined,
  };
}
