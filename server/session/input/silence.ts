import type { Clock } from '../contract/clock.ts';

/** Once the client has sent no sound for this long, what is missing counts as silence. */
const silentClientMs = 500;
/** After so long without sound it is found out whether the line passes anything. */
const askAfterMs = 150;
/** So long what was found out counts; it is found out anew before that. */
const knownForMs = 1_000;
const askAnewMs = 500;
/** Most that is made up at once: longer silence ends no turn that this does not end. */
const longestMs = 5_000;

/**
 * Asks the other side of the line for a sign of life, which comes after all that it has sent before; calls `answered` when it
 * is there, and never where the line is gone.
 */
export type ProbeLine = (answered: () => void) => void;

/**
 * Tells silence from a stall: a client that sends no sound may be silent, or what it sends may be stuck on its way. Silence
 * is what the other side answers in.
 */
export class Silence {
  readonly #clock: Pick<Clock, 'now'>;
  /** Absent where nothing can be stuck: a network that loses what is late. */
  readonly #probe: ProbeLine | undefined;
  #soundMs = 0;
  /** Up to here what was missing has been made up, or was not missed. */
  #doneMs = silentClientMs;
  #answeredMs = -Infinity;
  #question: object | undefined;

  constructor(clock: Pick<Clock, 'now'>, probe: ProbeLine | undefined) {
    this.#clock = clock;
    this.#probe = probe;
  }

  /** Sound has come, or is to be expected only now. */
  begin(): void {
    this.#soundMs = this.#clock.now();
    this.#doneMs = this.#soundMs + silentClientMs;
    this.#question = undefined;
  }

  /** Nobody misses sound. */
  skip(): void {
    this.#doneMs = Math.max(this.#doneMs, this.#clock.now());
  }

  /** Milliseconds of silence that there were since this was asked last, as far as is known; else it is being found out. */
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
