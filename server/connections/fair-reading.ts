import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { limits } from '../limits/limits.ts';

/** A client is not read for longer than this at a time: the server may have time again. */
const longestWaitMs = 500;

/** Measures a client's input, so that one that sends more than talks need waits while the server has no time to spare. */
export class FairReading {
  readonly #now: () => number;
  readonly #isBusy: () => boolean;
  #bytes: number = limits.readBurstBytes.value;
  #frames: number = limits.readBurstFrames.value;
  #atMs: number;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number, isBusy: () => boolean = eventLoopIsBusy) {
    this.#now = now;
    this.#isBusy = isBusy;
    this.#atMs = now();
  }

  /** Counts a frame that was read. */
  took(bytes: number): void {
    this.#refill();
    // What was read while there was time is held against the client up to one burst.
    this.#bytes = Math.max(this.#bytes - bytes, -limits.readBurstBytes.value);
    this.#frames = Math.max(this.#frames - 1, -limits.readBurstFrames.value);
  }

  /** Milliseconds for which the client must not be read now; 0 if the server has time for it. Ask again after that. */
  get waitMs(): number {
    this.#refill();
    if ((this.#bytes >= 0 && this.#frames >= 0) || !this.#isBusy()) return 0;
    const { readBytesASecond, readFramesASecond } = limits;
    const owedSeconds = Math.max(-this.#bytes / readBytesASecond.value, -this.#frames / readFramesASecond.value);
    return Math.min(longestWaitMs, Math.ceil(owedSeconds * 1000));
  }

  #refill(): void {
    const nowMs = this.#now();
    const seconds = (nowMs - this.#atMs) / 1000;
    this.#atMs = nowMs;
    const { readBurstBytes, readBytesASecond, readBurstFrames, readFramesASecond } = limits;
    this.#bytes = Math.min(readBurstBytes.value, this.#bytes + seconds * readBytesASecond.value);
    this.#frames = Math.min(readBurstFrames.value, this.#frames + seconds * readFramesASecond.value);
  }
}

const measuredMs = 100;
/** Share of the time from which on the event loop counts as busy: at that load, waiting in line begins to dominate. */
const busyShare = 0.8;

let measured: EventLoopUtilization = performance.eventLoopUtilization();
let measuredAtMs = performance.now();
let wasBusy = false;

/** True if the event loop was at work for most of the latest period of at least 100 ms. */
function eventLoopIsBusy(): boolean {
  const nowMs = performance.now();
  if (nowMs - measuredAtMs >= measuredMs) {
    const present = performance.eventLoopUtilization();
    wasBusy = performance.eventLoopUtilization(present, measured).utilization > busyShare;
    measured = present;
    measuredAtMs = nowMs;
  }
  return wasBusy;
}
