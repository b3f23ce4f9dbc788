import type { Clock } from '../../server/session/contract/clock.ts';

/** A clock that only moves when told to; sleepers wake in order of their due time. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const sleeper = { atMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => {
        if (this.#sleepers.delete(sleeper)) reject(signal.reason as Error);
      });
    });
  }

  after(ms: number, run: () => void): () => void {
    const off = new AbortController();
    void this.sleep(ms, off.signal).then(run, () => undefined);
    return () => off.abort();
  }

  every(ms: number, run: () => void): () => void {
    const beat = (): void => {
      callOff = this.after(ms, beat);
      run();
    };
    let callOff = this.after(ms, beat);
    return () => callOff();
  }

  /** Advances time in small steps and runs everything that becomes due. */
  async advance(ms: number, stepMs = 20): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    while (this.#nowMs < endMs) {
      this.#nowMs = Math.min(endMs, this.#nowMs + stepMs);
      for (const sleeper of [...this.#sleepers].toSorted((a, b) => a.atMs - b.atMs)) {
        if (sleeper.atMs > this.#nowMs) continue;
        this.#sleepers.delete(sleeper);
        sleeper.wake();
      }
      await settle();
    }
  }
}

/** Runs everything that is ready to run, without advancing time. */
export async function settle(rounds = 4): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
