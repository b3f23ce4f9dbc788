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
