import { workerData } from 'node:worker_threads';
import { serveWorker } from '../../../voices/runtime/worker-serve.ts';
import { MemoryError } from './record.ts';
import { MemoryStore } from './store.ts';
import type { StoreAnswer, StoreJob } from './store-thread.ts';

/** Opened by the first job; if that fails, the next job tries again. */
let store: MemoryStore | undefined;

serveWorker<StoreJob, StoreAnswer>(async ({ method, args }) => {
  try {
    if (method === 'close') {
      store?.purge();
      store?.close();
      return { reply: { value: undefined } };
    }
    store ??= new MemoryStore(String(workerData));
    if (method === 'open') return { reply: { value: undefined } };
    const act = store[method].bind(store) as (...given: readonly unknown[]) => unknown;
    return { reply: { value: act(...args) } };
  } catch (fault) {
    const { code, message } =
      fault instanceof MemoryError
        ? fault
        : { code: 'memory_unavailable' as const, message: `The memory database cannot be written: ${String(fault)}.` };
    return { reply: { fault: { code, message } } };
  }
});
