import type { CallOptions } from '../engine.ts';

/**
 * Passes a stream on. Aborting throws `signal.reason` at once, even while the stream is silent. Retains nothing of what
 * has passed, however long the stream is.
 */
export async function* untilAborted<Item>(items: AsyncIterable<Item>, { signal }: CallOptions): AsyncGenerator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a source that is waiting for its own input would not settle before that input comes.
    void iterator.return?.().catch(() => undefined);
  }
}

/** Not `Promise.race` with a promise of the abort: that promise would retain every race. */
function unlessAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
