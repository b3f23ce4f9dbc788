import type { Clock } from '../../server/session/contract/clock.ts';
import { seededRandom } from '../../eval/statistics.ts';

interface Due {
  readonly atMs: number;
  /** Breaks ties: of two due at the same time, the one scheduled first runs first. */
  readonly order: number;
  run: (() => void) | undefined;
}

/**
 * Virtual time: a queue of timers. Each runs together with all promise callbacks that follow from it before time moves
 * on. Nothing waits for real time. The same seed gives the same random numbers.
 */
export class Scheduler implements Clock {
  readonly #heap: Due[] = [];
  readonly #random: () => number;
  #nowMs = 0;
  #order = 0;
  #pending = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  now(): number {
    return this.#nowMs;
  }

  /** In [0, 1). */
  random(): number {
    return this.#random();
  }

  /** A random number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + (most - least) * this.#random();
  }

  after(ms: number, run: () => void): () => void {
    const due: Due = { atMs: this.#nowMs + Math.max(0, ms), order: (this.#order += 1), run };
    this.#pending += 1;
    this.#rise(due);
    return () => {
      if (due.run === undefined) return;
      due.run = undefined;
      this.#pending -= 1;
    };
  }

  every(ms: number, run: () => void): () => void {
    const beat = (): void => {
      callOff = this.after(ms, beat);
      run();
    };
    let callOff = this.after(ms, beat);
    return () => callOff();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        callOff();
        reject(signal.reason as Error);
      };
      const callOff = this.after(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#pending;
  }

  /** Advances time until `isDone`, until `endMs`, or until no timer is pending. Returns whether it is done. */
  async run(isDone: () => boolean, endMs: number): Promise<boolean> {
    await settled();
    while (!isDone()) {
      const due = this.#sink();
      if (due === undefined || due.atMs > endMs) {
        if (due !== undefined) this.#rise(due);
        return false;
      }
      this.#nowMs = due.atMs;
      const { run } = due;
      if (run === undefined) continue;
      due.run = undefined;
      this.#pending -= 1;
      run();
      await settled();
    }
    return true;
  }

  /** Pushes a timer onto the heap. */
  #rise(due: Due): void {
    const heap = this.#heap;
    let place = heap.push(due) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isSooner(due, heap[above] as Due)) break;
      heap[place] = heap[above] as Due;
      place = above;
    }
    heap[place] = due;
  }

  /** Pops the next timer from the heap. */
  #sink(): Due | undefined {
    const heap = this.#heap;
    const next = heap[0];
    const last = heap.pop();
    if (next === undefined || last === undefined || heap.length === 0) return next;
    let place = 0;
    for (let below = 1; below < heap.length; below = 2 * place + 1) {
      if (below + 1 < heap.length && isSooner(heap[below + 1] as Due, heap[below] as Due)) below += 1;
      if (!isSooner(heap[below] as Due, last)) break;
      heap[place] = heap[below] as Due;
      place = below;
    }
    heap[place] = last;
    return next;
  }
}

function isSooner(one: Due, other: Due): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/**
 * Resolves once all pending promise callbacks have run. A `nextTick` requested by a microtask runs when no microtask is
 * left; that costs a fifth of a turn of the event loop.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
