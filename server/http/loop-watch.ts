import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The state changes once the loop has been late, or on time, for so many seconds in a row. */
const stableSeconds = 5;

/** Resolution of the measurement, which is part of each measured delay, in milliseconds. */
const resolutionMs = 10;

/**
 * Watches how late the event loop runs its timers: a server that is late answers everybody late, so a load balancer does
 * better to send new clients elsewhere. The caller closes it.
 */
export class LoopWatch {
  readonly #timer: NodeJS.Timeout;
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #isLate = false;
  /** Seconds in a row that contradict the state. */
  #against = 0;

  /** `limitMs`: p99 of the delays within a second beyond which the loop is late. `p99Ms` measures it unless given. */
  constructor(limitMs: number, p99Ms?: () => number) {
    const measure = p99Ms ?? ((): number => this.#measure());
    if (p99Ms === undefined) this.#delays.enable();
    this.#timer = setInterval(() => {
      const isAgainst = measure() > limitMs !== this.#isLate;
      this.#against = isAgainst ? this.#against + 1 : 0;
      if (this.#against < stableSeconds) return;
      this.#isLate = !this.#isLate;
      this.#against = 0;
    }, 1_000).unref();
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }

  #measure(): number {
    const ms = this.#delays.percentile(99) / 1e6 - resolutionMs;
    this.#delays.reset();
    return ms;
  }
}
