/**
 * A stream that can be read again from its start, by one reader after the other. A reader that was left while it waited takes
 * nothing away from the next.
 */
export class Replay<Item> {
  readonly #iterator: AsyncIterator<Item>;
  readonly #items: Item[] = [];
  #forgotten = 0;
  #ended = false;
  #pull: Promise<void> | undefined;

  constructor(items: AsyncIterable<Item>) {
    this.#iterator = items[Symbol.asyncIterator]();
  }

  /** Those that were taken from the stream, and not forgotten, oldest first. */
  get taken(): readonly Item[] {
    return this.#items;
  }

  /** The item at this place, counted from the start, when it has come; undefined where the stream is over before. */
  async at(index: number): Promise<Item | undefined> {
    while (index - this.#forgotten >= this.#items.length) {
      if (this.#ended) return undefined;
      this.#pull ??= this.#take();
      await this.#pull;
    }
    return this.#items[index - this.#forgotten];
  }

  /** Those before `index` will not be read again. */
  forget(index: number): void {
    const count = Math.max(0, index - this.#forgotten);
    this.#items.splice(0, count);
    this.#forgotten += count;
  }

  /** Tells the source that nobody reads any more. */
  close(): void {
    // Not awaited: a source that waits for its own input would not answer before that comes.
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
