import type { CallOptions } from '../engine.ts';

/**
 * Maps a stream one item ahead: while the reader handles a result, the next one is already being computed, but no more
 * than that. Results keep their order. Aborting ends every wait by throwing `signal.reason`; a failure is thrown when
 * its turn comes.
 */
export async function* lookAhead<Item, Result>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<Result>,
  { signal }: CallOptions,
): AsyncGenerator<Result> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.promise.catch(() => undefined);
  const iterator = items[Symbol.asyncIterator]();
  const makeNext = async (): Promise<{ readonly result: Result } | undefined> => {
    const next = await iterator.next();
    return next.done === true ? undefined : { result: await work(next.value) };
  };
  const advance = (): ReturnType<typeof makeNext> => {
    const pending = makeNext();
    // It may reject before its turn, or after the reader has left.
    pending.catch(() => undefined);
    return pending;
  };
  try {
    let pending = advance();
    for (;;) {
      const current = await Promise.race([pending, aborted.promise]);
      if (current === undefined) return;
      pending = advance();
      yield current.result;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source that is waiting for its own input would not settle before that input comes.
    void iterator.return?.().catch(() => undefined);
  }
}
