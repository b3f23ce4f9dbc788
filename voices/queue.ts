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

  /** Adds an item; after `end` or `fail` it is dropped. */
  push(item: Item): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader finishes once it has taken what is waiting. */
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

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    for (;;) {
      while (this.#head < this.#items.length) yield this.#take();
      if (this.#ended) break;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    if (this.#failure !== undefined) throw (this.#failure as { reason: unknown }).reason;
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
