import type { ChatModel } from '../../agents/chat.ts';
import type { SharedEmbedder } from '../../agents/embeddings/shared-embedder.ts';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import { MemoryError, type UserKey } from './record.ts';
import { SessionMemory, type SessionMemoryParts } from './session-memory.ts';
import { memoryFile, MemoryStore } from './store.ts';
import { openStoreThread, type StoreThread } from './store-thread.ts';
import { openSummaries } from './summaries.ts';

/** The memory subsystem of a server. */
export interface Memories {
  readonly state: 'on' | 'off' | 'unavailable';
  /** The store; access throws `MemoryError` if memory is off or its file cannot be read. */
  readonly store: StoreThread;
  /** Opens the memory of a session with this character; undefined if memory is off or unavailable. */
  follow(
    owner: UserKey['owner'],
    character: Character,
    told: Pick<SessionMemoryParts, 'onFault' | 'onLoss'>,
  ): SessionMemory | undefined;
  /** Stores the open turns, aborts running summaries, and closes the file. */
  close(): Promise<void>;
}

export interface MemoriesParts {
  readonly config: Pick<Config, 'memory' | 'dataDir'>;
  readonly chatModel: ChatModel | undefined;
  /** Embeddings, for semantic recall. */
  readonly embedder?: SharedEmbedder | undefined;
  readonly characters: ReadonlyMap<string, Character>;
  /** Called, without content, if memories cannot be opened or summarized. */
  readonly onFault: (fault: unknown) => void;
}

/** Opens the memories if they are enabled. If the file cannot be read, reports it and continues without. */
export async function openMemories(parts: MemoriesParts): Promise<Memories> {
  const { config, chatModel, embedder, characters, onFault } = parts;
  if (!config.memory)
    return without(
      'off',
      new MemoryError('memory_off', 'Memory is disabled on this server. Enable it with DRAMATIS_MEMORY.'),
    );
  const file = memoryFile(config.dataDir);
  let store: StoreThread;
  try {
    store = await openStoreThread(file);
  } catch (fault) {
    if (!(fault instanceof MemoryError)) throw fault;
    onFault(fault);
    return without(
      'unavailable',
      new MemoryError('memory_unavailable', 'The memory database of this server cannot be read. See its log.'),
    );
  }
  const reader = new MemoryStore(file, true);
  const nameOf = (id: string): string => characters.get(id)?.name ?? id;
  const summaries = openSummaries({ store, chatModel, nameOf, now: Date.now, onFault });
  const followed = new Set<SessionMemory>();
  return {
    state: 'on',
    store,
    follow(owner, { id: character }, told) {
      const memory: SessionMemory = new SessionMemory({
        store,
        reader,
        owner,
        character,
        now: Date.now,
        embedder,
        ...told,
        onTurn: (bond) => summaries.consider(bond),
        onEnd(bond) {
          followed.delete(memory);
          if (bond !== undefined) summaries.consider(bond, true);
        },
      });
      followed.add(memory);
      return memory;
    },
    async close() {
      await Promise.all([...followed].map((memory) => memory.close()));
      await summaries.close();
      reader.close();
      await store.close();
    },
  };
}

function without(state: Memories['state'], problem: MemoryError): Memories {
  return {
    state,
    get store(): StoreThread {
      throw problem;
    },
    follow: () => undefined,
    close: async () => undefined,
  };
}
