import { openWorkerPool } from '../../voices/runtime/worker-pool.ts';
import { MemoryError } from './record.ts';
import type { MemoryStore } from './store.ts';

type Reading = 'get' | 'list' | 'page' | 'people' | 'outgrown';
type Writing = 'record' | 'keepPoint' | 'summarise' | 'correct' | 'remove' | 'move';
type Method = Reading | Writing | 'erase' | 'tidy';

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
  readonly [Name in Reading | Writing]: (
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
/** A disk that hangs keeps no session from going on; what may not be kept yet is told again. */
const longestRecordMs = 30_000;
/** After a memory was deleted: the next is likely to follow. */
const tidyAfterMs = 5_000;

/** Opens the file on a new thread. Throws `MemoryError` where it cannot be read. */
export async function openStoreThread(file: string): Promise<StoreThread> {
  const thread = startThread(file);
  const { doing } = thread;
  const tidier = openTidier(doing('tidy'));
  const changing =
    <Name extends Method>(name: Name) =>
    async (...args: Parameters<MemoryStore[Name]>): Promise<ReturnType<MemoryStore[Name]>> => {
      const result = await doing(name)(...args);
      tidier.later();
      return result;
    };
  try {
    await thread.call('open', []);
  } catch (fault) {
    await thread.end();
    throw fault;
  }
  // After a process that was killed.
  tidier.later();
  return {
    record: doing('record', { priority: 1, longestMs: longestRecordMs }),
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
      let [count, erased] = [0, 0];
      do {
        erased = await doing('erase')(person, character, eraseCount);
        count += erased;
      } while (erased > 0);
      await tidier.now();
      return count;
    },
    async close() {
      tidier.close();
      await thread.call('close', []).catch(() => undefined);
      await thread.end();
    },
  };
}

interface Urgency {
  readonly priority?: number;
  readonly longestMs?: number;
}

/** The thread, and what asks it for jobs. */
function startThread(file: string) {
  const url = new URL('./store-worker.ts', import.meta.url);
  const pool = openWorkerPool<StoreJob, StoreAnswer>({ name: 'memory', url, size: 1, workerData: file });
  async function call(method: StoreJob['method'], args: readonly unknown[], urgency: Urgency = {}): Promise<unknown> {
    const { priority = 0, longestMs } = urgency;
    const signal = longestMs === undefined ? new AbortController().signal : AbortSignal.timeout(longestMs);
    const answer = await pool.call({ method, args }, { signal, priority }).catch((cause: unknown) => {
      throw new MemoryError('memory_unavailable', 'The thread that keeps the memories does not answer.', cause);
    });
    if ('value' in answer) return answer.value;
    throw new MemoryError(answer.fault.code, answer.fault.message);
  }
  const doing =
    <Name extends Method>(name: Name, urgency?: Urgency) =>
    (...args: Parameters<MemoryStore[Name]>): Promise<ReturnType<MemoryStore[Name]>> =>
      call(name, args, urgency) as Promise<ReturnType<MemoryStore[Name]>>;
  return { call, doing, end: () => pool.close() };
}

/** Has traces removed, now or once nothing more was deleted for a while. Where it fails it is done later: the store knows. */
function openTidier(tidy: () => Promise<boolean>) {
  let timer: NodeJS.Timeout | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void now(), tidyAfterMs).unref();
  };
  const now = async (): Promise<void> => {
    if (!(await tidy().catch(() => true))) later();
  };
  return { now, later, close: () => clearTimeout(timer) };
}
