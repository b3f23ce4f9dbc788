import type { Clock } from '../../../server/session/contract/clock.ts';

/** Event loop turns without new work after which nothing more will happen by itself. */
const quietTurns = 3;
/** Shortest sleep. With a shorter one, a rounding error could make a sleeper loop forever. */
const shortestMs = 0.001;

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/**
 * Time that moves only on request, and never during real work: an engine's computation takes exactly as long as the
 * bench says. Sleepers wake in order, each at its own time.
 */
export class SimulatedTime implements Clock {
  #nowMs = 0;
  #working = 0;
  #changed: (() => void) | undefined;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      };
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#nowMs + Math.max(shortestMs, ms), wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  after(ms: number, run: () => void): () => void {
    const stopped = new AbortController();
    void this.sleep(ms, stopped.signal).then(run, () => undefined);
    return () => stopped.abort();
  }

  every(ms: number, run: () => void): () => void {
    let stop = (): void => undefined;
    const again = (): void => {
      stop = this.after(ms, again);
      run();
    };
    stop = this.after(ms, again);
    return () => stop();
  }

  /** Stops time until `work` is done. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    this.#working += 1;
    try {
      return await work;
    } finally {
      this.#working -= 1;
      this.#changed?.();
    }
  }

  /** Advances time and runs everything that becomes due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      await this.#settle();
      const next = [...this.#sleepers].reduce<Sleeper | undefined>(
        (first, one) => (one.atMs < (first?.atMs ?? Infinity) ? one : first),
        undefined,
      );
      if (next === undefined || next.atMs > untilMs) break;
      this.#sleepers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
    }
    this.#nowMs = untilMs;
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#working > 0) {
        await new Promise<void>((resolve) => (this.#changed = resolve));
        quiet = 0;
      }
    }
  }
}
