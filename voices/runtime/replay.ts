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
