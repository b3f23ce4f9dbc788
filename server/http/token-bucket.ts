/**
 * Rate limiter with bursts. A request of any size passes while one whole token is left, so that one big piece gets
 * through; the resulting debt delays the next ones.
 */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #tokens: number;
  #atMs: number;

  /** `now` returns monotonic milliseconds. */
  constructor(options: { readonly burst: number; readonly perSecond: number; readonly now: () => number }) {
    this.#capacity = options.burst;
    this.#perMs = options.perSecond / 1000;
    this.#now = options.now;
    this.#tokens = options.burst;
    this.#atMs = options.now();
  }

  /** Takes `amount` if a token is left; otherwise takes nothing and returns false. */
  take(amount = 1): boolean {
    this.#refill();
    if (this.#tokens < Math.min(1, amount)) return false;
    this.#tokens -= amount;
    return true;
  }

  /** True if the bucket is full. It can be dropped then, because a new one starts full. */
  get full(): boolean {
    this.#refill();
    return this.#tokens >= this.#capacity;
  }

  /** Milliseconds until a token is available. */
  get waitMs(): number {
    this.#refill();
    return Math.max(0, (1 - this.#tokens) / this.#perMs);
  }

  #refill(): void {
    const now = this.#now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#atMs) * this.#perMs);
    this.#atMs = now;
  }
}
