/**
 * Counts what is in use, in all and by key (an address or an account), and refuses what would exceed a bound. A key that
 * is undefined counts in all only.
 */
export class Quota {
  readonly #most: { readonly total: number; readonly perKey: number };
  readonly #byKey = new Map<string, number>();
  #total = 0;

  constructor(most: { readonly total: number; readonly perKey: number }) {
    this.#most = most;
  }

  /** The amount in use, in all. */
  get total(): number {
    return this.#total;
  }

  /** Names the bound that `amount` more would exceed. */
  exceededBy(key: string | undefined, amount = 1): 'total' | 'key' | undefined {
    if (this.#total + amount > this.#most.total) return 'total';
    return key !== undefined && (this.#byKey.get(key) ?? 0) + amount > this.#most.perKey ? 'key' : undefined;
  }

  /** Takes an amount. Returns the function that gives it back, or the name of the bound that would be exceeded. */
  take(key: string | undefined, amount = 1): (() => void) | 'total' | 'key' {
    const exceeded = this.exceededBy(key, amount);
    if (exceeded !== undefined) return exceeded;
    this.#add(key, amount);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(key, -amount);
      isTaken = false;
    };
  }

  #add(key: string | undefined, amount: number): void {
    this.#total += amount;
    if (key === undefined) return;
    const left = (this.#byKey.get(key) ?? 0) + amount;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}
