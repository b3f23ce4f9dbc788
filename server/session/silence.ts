import type { Clock } from './clock.ts';

/** Once the client has sent no sound for this long, what is missing counts as silence. */
const silentClientMs = 500;
/** After so long without sound it is found out whether the line passes anything. */
const askAfterMs = 150;
/** So long what was found out counts; it is found out anew before that. */
const knownForMs = 1_000;
const askAnewMs = 500;

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
  #answeredMs = -Infinity;
  #question: object | undefined;

  constructor(clock: Pick<Clock, 'now'>, probe: ProbeLine | undefined) {
    this.#clock = clock;
    this.#probe = probe;
  }

  /** Sound has come, or is not to be expected yet. */
  begin(): void {
    this.#soundMs = this.#clock.now();
    this.#question = undefined;
  }

  /** Whether what is missing now is silence. Asks the other side where that is not known. */
  isNow(): boolean {
    const now = this.#clock.now();
    const quietMs = now - this.#soundMs;
    if (this.#probe === undefined) return quietMs >= silentClientMs;
    if (quietMs >= askAfterMs && now - this.#answeredMs >= Math.min(askAnewMs, quietMs)) this.#ask(this.#probe);
    return quietMs >= silentClientMs && this.#answeredMs > this.#soundMs && now - this.#answeredMs < knownForMs;
  }

  #ask(probe: ProbeLine): void {
    if (this.#question !== undefined) return;
    const question = {};
    this.#question = question;
    probe(() => {
      if (this.#question !== question) return;
      this.#question = undefined;
      this.#answeredMs = this.#clock.now();
    });
  }
}
