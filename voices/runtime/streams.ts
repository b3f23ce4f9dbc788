import type { CallOptions } from '../engine.ts';

/** The one bridge from push to pull: a queue that one reader iterates. Unbounded; writers are paced upstream. */
export class Queue<Item> implements AsyncIterable<Item> {
  #items: Item[] = [];
  #head = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;

  /** Items waiting for the reader. */
  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Adds an item; dropped after `end` or `fail`. */
  push(item: Item): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader finishes once it has taken the waiting items. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Like `end`, but the reader then throws `reason`. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#failure = { reason };
    this.end();
  }

  /** Not a generator: all audio and text passes through queues, and a generator allocates five objects per item. */
  [Symbol.asyncIterator](): AsyncIterator<Item> {
    let finished = false;
    const finish = (): IteratorReturnResult<undefined> => {
      finished = true;
      return { done: true, value: undefined };
    };
    return {
      next: async () => {
        for (;;) {
          if (finished) return finish();
          if (this.length > 0) return { done: false, value: this.#take() };
          if (this.#ended) {
            finish();
            if (this.#failure !== undefined) throw (this.#failure as { reason: unknown }).reason;
            continue;
          }
          await new Promise<void>((resolve) => (this.#wake = resolve));
          this.#wake = undefined;
        }
      },
      return: async () => finish(),
    };
  }

  #take(): Item {
    const item = this.#items[this.#head] as Item;
    this.#items[this.#head] = undefined as Item;
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** A stream that can be read again from its start; a reader abandoned while it waits takes no item from the next. */
export class ReplayableStream<Item> {
  readonly #iterator: AsyncIterator<Item>;
  readonly #items: Item[] = [];
  #forgotten = 0;
  #ended = false;
  #pull: Promise<void> | undefined;

  constructor(items: AsyncIterable<Item>) {
    this.#iterator = items[Symbol.asyncIterator]();
  }

  /** Items taken from the stream and not yet forgotten, oldest first. */
  get taken(): readonly Item[] {
    return this.#items;
  }

  /** Waits for the item at this index, counted from the start; undefined if the stream ends before it. */
  async at(index: number): Promise<Item | undefined> {
    while (index - this.#forgotten >= this.#items.length) {
      if (this.#ended) return undefined;
      this.#pull ??= this.#take();
      await this.#pull;
    }
    return this.#items[index - this.#forgotten];
  }

  /** Drops items before `index`, which will not be read again. */
  forget(index: number): void {
    const count = Math.max(0, index - this.#forgotten);
    this.#items.splice(0, count);
    this.#forgotten += count;
  }

  /** Tells the source that there are no more readers. */
  close(): void {
    // Not awaited: a source that is waiting for its own input would not settle before that input comes.
    void this.#iterator.return?.().catch(() => undefined);
  }

  async #take(): Promise<void> {
    try {
      const next = await this.#iterator.next();
      if (next.done === true) this.#ended = true;
      else this.#items.push(next.value);
    } finally {
      this.#pull = undefined;
    }
  }
}

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
