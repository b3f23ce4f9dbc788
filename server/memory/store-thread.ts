import { openWorkerPool } from '../../voices/worker-pool.ts';
import { MemoryError } from './record.ts';
import type { MemoryStore } from './store.ts';

type Method = Exclude<keyof MemoryStore, 'close' | 'points' | 'recall' | 'summary' | 'unsummarised'>;

/** One call of a method of the store. */
export interface StoreJob {
  readonly method: Method | 'open' | 'close';
  readonly args: readonly unknown[];
}

/** What came of it. */
export type StoreAnswer =
  | { readonly value: unknown }
  | { readonly fault: { readonly code: MemoryError['code']; readonly message: string } };

/**
 * The store on a thread of its own, so that nobody's sound waits for a disk: what it takes to write, to empty the log and to read
 * much at once. One job after the other, turns that were said first. Each throws `MemoryError`; where one settles, the store's
 * promises hold.
 */
export type StoreThread = {
  readonly [Name in Exclude<Method, 'erase' | 'tidy'>]: (
    ...args: Parameters<MemoryStore[Name]>
  ) => Promise<ReturnType<MemoryStore[Name]>>;
} & {
  /** Forgets everything of a person, or what one character knows, and settles when no trace is left. Returns how many memories there were. */
  erase(...args: [person: Parameters<MemoryStore['erase']>[0], character?: string]): Promise<number>;
  /** Does what is asked for, rids the file of traces, and closes it. */
  close(): Promise<void>;
};

/** Memories that are erased at a stretch: others who talk wait for so many. */
const eraseCount = 500;
/** After a memory was deleted: the next is likely to follow. */
const tidyAfterMs = 5_000;

/** Opens the file on a new thread. Throws `MemoryError` where it cannot be read. */
export async function openStoreThread(file: string): Promise<StoreThread> {
  const url = new URL('store-worker.ts', import.meta.url);
  const pool = openWorkerPool<StoreJob, StoreAnswer>({ name: 'memory', url, size: 1, workerData: file });
  const { signal } = new AbortController();
  let tidying: NodeJS.Timeout | undefined;

  async function call(method: StoreJob['method'], args: readonly unknown[], priority = 0): Promise<unknown> {
    const answer = await pool.call({ method, args }, { signal, priority }).catch((cause: unknown) => {
      throw new MemoryError('memory_unavailable', 'The thread that keeps the memories has ended.', cause);
    });
    if ('value' in answer) return answer.value;
    throw new MemoryError(answer.fault.code, answer.fault.message);
  }
  const doing =
    <Name extends Method>(name: Name, priority = 0) =>
    (...args: Parameters<MemoryStore[Name]>): Promise<ReturnType<MemoryStore[Name]>> =>
      call(name, args, priority) as Promise<ReturnType<MemoryStore[Name]>>;
  const tidy = async (): Promise<void> => {
    // Where it fails now it is done later: the store knows.
    if ((await call('tidy', []).catch(() => true)) === false) tidyLater();
  };
  const tidyLater = (): void => {
    clearTimeout(tidying);
    tidying = setTimeout(() => void tidy(), tidyAfterMs).unref();
  };
  const changing =
    <Name extends Method>(name: Name) =>
    async (...args: Parameters<MemoryStore[Name]>): Promise<ReturnType<MemoryStore[Name]>> => {
      const result = await doing(name)(...args);
      tidyLater();
      return result;
    };

  try {
    await call('open', []);
  } catch (fault) {
    await pool.close();
    throw fault;
  }
  // Of a process that was killed.
  tidyLater();
  return {
    record: doing('record', 1),
    keepPoint: doing('keepPoint'),
    get: doing('get'),
    list: doing('list'),
    page: doing('page'),
    people: doing('people'),
    outgrown: doing('outgrown'),
    summarise: doing('summarise'),
    correct: changing('correct'),
    remove: changing('remove'),
    move: changing('move'),
    async erase(person, character) {
      let count = 0;
      for (;;) {
        const erased = await doing('erase')(person, character, eraseCount);
        if (erased === 0) break;
        count += erased;
      }
      await tidy();
      return count;
    },
    async close() {
      clearTimeout(tidying);
      await call('close', []).catch(() => undefined);
      await pool.close();
    },
  };
}
