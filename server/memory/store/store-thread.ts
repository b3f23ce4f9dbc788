import { openWorkerPool } from '../../../voices/runtime/worker-pool.ts';
import type { ArgsOf, AsyncStore, Operation, ResultOf } from './operations.ts';
import { MemoryError } from './record.ts';
import { MemoryStore } from './store.ts';

type Method = Operation | 'purge';

export interface StoreJob {
  readonly method: Method | 'open' | 'close';
  readonly args: readonly unknown[];
}

export type StoreAnswer =
  | { readonly value: unknown }
  | { readonly fault: { readonly code: MemoryError['code']; readonly message: string } };

/** Memories erased per job; other sessions wait for one such batch at most. */
const eraseCount = 500;
/** Timeout of a write, so that a hanging disk does not block a session; what may not be stored yet is written again. */
const longestRecordMs = 30_000;
/** Delay of the purge after a deletion: more deletions are likely to follow. */
const tidyAfterMs = 5_000;

/**
 * Opens the file on a worker thread, so that audio never waits for the disk. It runs one job at a time, `record` first.
 * What is recalled is read on this thread, from a second connection. `erase` leaves no trace on disk, `close` none of
 * deleted data. Throws `MemoryError` if the file cannot be read.
 */
export async function openStoreThread(file: string): Promise<AsyncStore> {
  const thread = startThread(file);
  const { doing } = thread;
  const tidier = openPurger(() => thread.call('purge', []) as Promise<boolean>);
  const changing =
    <Name extends Operation>(name: Name) =>
    async (...args: ArgsOf<Name>): Promise<ResultOf<Name>> => {
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
  const reader = new MemoryStore(file, true);
  // A previous process may have been killed before its purge.
  tidier.later();
  return {
    record: doing('record', { priority: 1, longestMs: longestRecordMs }),
    recall: async (...args) => reader.recall(...args),
    standing: async (...args) => reader.standing(...args),
    embeddings: async (...args) => reader.embeddings(...args),
    summary: async (...args) => reader.summary(...args),
    keepEmbedding: doing('keepEmbedding'),
    keepState: doing('keepState', { priority: 1, longestMs: longestRecordMs }),
    states: async (...args) => reader.states(...args),
    saved: doing('saved'),
    load: changing('load'),
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
      reader.close();
      await thread.call('close', []).catch(() => undefined);
      await thread.end();
    },
  };
}

interface Urgency {
  readonly priority?: number;
  readonly longestMs?: number;
}

function startThread(file: string) {
  const url = new URL('./store-worker.ts', import.meta.url);
  const pool = openWorkerPool<StoreJob, StoreAnswer>({ name: 'memory', url, size: 1, workerData: file });
  async function call(method: StoreJob['method'], args: readonly unknown[], urgency: Urgency = {}): Promise<unknown> {
    const { priority = 0, longestMs } = urgency;
    const signal = longestMs === undefined ? new AbortController().signal : AbortSignal.timeout(longestMs);
    const answer = await pool.call({ method, args }, { signal, priority }).catch((cause: unknown) => {
      throw new MemoryError('memory_unavailable', 'The memory thread does not respond.', cause);
    });
    if ('value' in answer) return answer.value;
    throw new MemoryError(answer.fault.code, answer.fault.message);
  }
  const doing =
    <Name extends Operation>(name: Name, urgency?: Urgency) =>
    (...args: ArgsOf<Name>): Promise<ResultOf<Name>> =>
      call(name, args, urgency) as Promise<ResultOf<Name>>;
  return { call, doing, end: () => pool.close() };
}

/** Schedules the purge of deleted data: now, or once nothing was deleted for a while. Failures are retried. */
function openPurger(tidy: () => Promise<boolean>) {
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
