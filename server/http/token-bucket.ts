/**
 * Lets through so much in the long run, and a burst on top. What is asked for is given as long as one whole token is left,
 * so that one big piece passes; the debt is waited off.
 */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  readonly #now: () => number;
  #tokens: number;
  #atMs: number;

  /** `now` counts milliseconds and never goes back. */
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

  /** True once nothing is owed: forgetting a full bucket changes nothing. */
  get full(): boolean {
    this.#refill();
    return this.#tokens >= this.#capacity;
  }

  /** Milliseconds until a token is left again. */
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
