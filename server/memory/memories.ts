import type { ChatModel } from '../../agents/chat.ts';
import type { Meanings } from '../../agents/embeddings/embedding-index.ts';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config/config.ts';
import { MemoryError, type Person } from './record.ts';
import { SessionMemory } from './session-memory.ts';
import { memoryFile, MemoryStore } from './store.ts';
import { openStoreThread, type StoreThread } from './store-thread.ts';
import { openSummaries } from './summaries.ts';

/** The memories of one server. */
export interface Memories {
  readonly state: 'on' | 'off' | 'unavailable';
  /** Throws `MemoryError` where memory is off, or its file cannot be read. */
  readonly store: StoreThread;
  /** What a session with this character remembers; undefined where nothing is kept. */
  follow(owner: Person['owner'], character: Character, onFault: (fault: unknown) => void): SessionMemory | undefined;
  /** Keeps what is being said, lets what is being summed up be, and closes the file. */
  close(): Promise<void>;
}

export interface MemoriesParts {
  readonly config: Pick<Config, 'memory' | 'dataDir'>;
  readonly chatModel: ChatModel | undefined;
  /** Recalls by meaning too. */
  readonly meanings?: Meanings | undefined;
  readonly characters: ReadonlyMap<string, Character>;
  /** Told why memories cannot be had, or summed up; without content. */
  readonly onFault: (fault: unknown) => void;
}

/** Opens the memories where the operator wants them. A file that cannot be read is told of, and the server talks without. */
export async function openMemories(parts: MemoriesParts): Promise<Memories> {
  const { config, chatModel, meanings, characters, onFault } = parts;
  if (!config.memory) return without('off', new MemoryError('memory_off', 'This server keeps no memories.'));
  const file = memoryFile(config.dataDir);
  let store: StoreThread;
  try {
    store = await openStoreThread(file);
  } catch (fault) {
    if (!(fault instanceof MemoryError)) throw fault;
    onFault(fault);
    return without('unavailable', new MemoryError('memory_unavailable', 'The memories of this server cannot be read.'));
  }
  const reader = new MemoryStore(file, true);
  const nameOf = (id: string): string => characters.get(id)?.name ?? id;
  const summaries = openSummaries({ store, chatModel, nameOf, now: Date.now, onFault });
  const followed = new Set<SessionMemory>();
  return {
    state: 'on',
    store,
    follow(owner, { id: character }, onSessionFault) {
      const memory: SessionMemory = new SessionMemory({
        store,
        reader,
        owner,
        character,
        now: Date.now,
        meanings,
        onFault: onSessionFault,
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
