import type { ChatModel } from '../../agents/chat.ts';
import type { Meanings } from '../../agents/embeddings/meanings.ts';
import type { Character } from '../../characters/character.ts';
import type { Config } from '../config.ts';
import { MemoryError, type Person } from './record.ts';
import { SessionMemory } from './session-memory.ts';
import { memoryFile, MemoryStore } from './store.ts';
import { openSummaries } from './summaries.ts';

/** The memories of one server. */
export interface Memories {
  readonly state: 'on' | 'off' | 'unavailable';
  /** Throws `MemoryError` where memory is off, or its file cannot be read. */
  readonly store: MemoryStore;
  /** What a session with this character remembers; undefined where nothing is kept. */
  follow(owner: Person['owner'], character: Character, onFault: (fault: unknown) => void): SessionMemory | undefined;
  /** Lets what is being summed up be, and closes the file. */
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
export function openMemories({ config, chatModel, meanings, characters, onFault }: MemoriesParts): Memories {
  if (!config.memory) return without('off', new MemoryError('memory_off', 'This server keeps no memories.'));
  let store: MemoryStore;
  try {
    store = new MemoryStore(memoryFile(config.dataDir));
  } catch (fault) {
    if (!(fault instanceof MemoryError)) throw fault;
    onFault(fault);
    return without('unavailable', new MemoryError('memory_unavailable', 'The memories of this server cannot be read.'));
  }
  const nameOf = (id: string): string => characters.get(id)?.name ?? id;
  const summaries = openSummaries({ store, chatModel, nameOf, now: Date.now, onFault });
  return {
    state: 'on',
    store,
    follow: (owner, { id: character }, onSessionFault) =>
      new SessionMemory({
        store,
        owner,
        character,
        now: Date.now,
        meanings,
        onFault: onSessionFault,
        onTurn: (bond) => summaries.consider(bond),
      }),
    async close() {
      await summaries.close();
      store.close();
    },
  };
}

function without(state: Memories['state'], problem: MemoryError): Memories {
  return {
    state,
    get store(): MemoryStore {
      throw problem;
    },
    follow: () => undefined,
    close: async () => undefined,
  };
}
