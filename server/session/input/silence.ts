import type { Clock } from '../contract/clock.ts';

/** Missing audio counts as silence once the client has sent none for this long. */
const silentClientMs = 500;
/** The line is probed after this long without audio. */
const askAfterMs = 150;
/** Lifetime of an answer to a probe; the line is probed again earlier, after `askAnewMs`. */
const knownForMs = 1_000;
const askAnewMs = 500;
/** Cap on synthesized silence; longer than any end-of-turn timeout. */
const longestMs = 5_000;

/** Asks for a sign of life, which arrives after all that was sent before; calls `answered` then, or never. */
export type ProbeLine = (answered: () => void) => void;

/** Lets several users probe a line at once that reports only the answer to its last probe. */
export function sharedProbe(line: ProbeLine): ProbeLine {
  let asking: (() => void)[] = [];
  return (answered) => {
    asking.push(answered);
    line(() => {
      const told = asking;
      asking = [];
      for (const one of told) one();
    });
  };
}

/** Distinguishes silence from a stall, in which the client's data does not arrive: the other side answers a probe. */
export class Silence {
  readonly #clock: Pick<Clock, 'now'>;
  /** Absent if data cannot stall, because the network drops late data. */
  readonly #probe: ProbeLine | undefined;
  #soundMs = 0;
  /** Time up to which missing audio has been filled in, or was not needed. */
  #doneMs = silentClientMs;
  #answeredMs = -Infinity;
  #question: object | undefined;

  constructor(clock: Pick<Clock, 'now'>, probe: ProbeLine | undefined) {
    this.#clock = clock;
    this.#probe = probe;
  }

  /** Restarts the wait for audio: audio has come, or is to be expected only from now on. */
  begin(): void {
    this.#soundMs = this.#clock.now();
    this.#doneMs = this.#soundMs + silentClientMs;
    this.#question = undefined;
  }

  /** Skips the time until now: audio was not needed. */
  skip(): void {
    this.#doneMs = Math.max(this.#doneMs, this.#clock.now());
  }

  /** Returns the milliseconds of silence since the last call, as far as is known; otherwise probes the line. */
  take(): number {
    const now = this.#clock.now();
    const quietMs = now - this.#soundMs;
    if (quietMs >= askAfterMs && now - this.#answeredMs >= Math.min(askAnewMs, quietMs)) this.#ask();
    const knownMs = this.#answeredMs > this.#soundMs ? this.#answeredMs + knownForMs : -Infinity;
    const untilMs = this.#probe === undefined ? now : Math.min(now, knownMs);
    if (untilMs <= this.#doneMs) return 0;
    const missingMs = Math.min(untilMs - this.#doneMs, longestMs);
    this.#doneMs = untilMs;
    return missingMs;
  }

  #ask(): void {
    if (this.#question !== undefined) return;
    const question = {};
    this.#question = question;
    this.#probe?.(() => {
      if (this.#question !== question) return;
      this.#question = undefined;
      this.#answeredMs = this.#clock.now();
    });
  }
}
