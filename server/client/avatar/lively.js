/** Seconds. */
const BLINK = { least: 2, most: 6, takes: 0.16 };
const AWAY = { least: 0.5, most: 1.5 };
const NOD_S = 0.5;

/** Radians. */
const NOD_DEPTH = 0.16;
const AWAY_YAW = 0.28;
const AWAY_PITCH = -0.12;

/**
 * What the head does now: angles in radians, `blink` from 0 (open) to 1.
 *
 * @typedef {{ blink: number, yaw: number, pitch: number }} Idle
 */

/**
 * Movements of a face that no event controls: blinking, looking away while it thinks, nodding in the user's pauses. Pure: the
 * same seed and the same calls give the same movements.
 */
export class Lively {
  #state;
  #blinkInS;
  #blinkedS = Infinity;
  #awayS = 0;
  #side = 1;
  #noddedS = Infinity;
  #yaw = 0;
  #pitch = 0;

  /** @param {number} [seed] */
  constructor(seed = 1) {
    this.#state = seed >>> 0;
    this.#blinkInS = this.#between(BLINK);
  }

  /** The character begins to think of an answer. */
  think() {
    this.#awayS = this.#between(AWAY);
    this.#side = this.#random() < 0.5 ? -1 : 1;
  }

  /** The character speaks: it looks at the user again. */
  speak() {
    this.#awayS = 0;
  }

  nod() {
    this.#noddedS = 0;
  }

  /**
   * @param {number} deltaS seconds since the last call
   * @returns {Idle}
   */
  update(deltaS) {
    this.#blinkInS -= deltaS;
    this.#blinkedS += deltaS;
    if (this.#blinkInS <= 0) {
      this.#blinkedS = 0;
      this.#blinkInS = this.#between(BLINK);
    }
    this.#awayS = Math.max(0, this.#awayS - deltaS);
    this.#noddedS += deltaS;
    const isAway = this.#awayS > 0;
    // Half of the way in 80 ms.
    const share = 1 - 0.5 ** (deltaS / 0.08);
    this.#yaw += ((isAway ? this.#side * AWAY_YAW : 0) - this.#yaw) * share;
    this.#pitch += ((isAway ? AWAY_PITCH : 0) - this.#pitch) * share;
    const nod = this.#noddedS < NOD_S ? NOD_DEPTH * Math.sin((Math.PI * this.#noddedS) / NOD_S) : 0;
    const blink = Math.max(0, 1 - Math.abs(this.#blinkedS / (BLINK.takes / 2) - 1));
    return { blink, yaw: this.#yaw, pitch: this.#pitch + nod };
  }

  /** @param {{ least: number, most: number }} range */
  #between({ least, most }) {
    return least + (most - least) * this.#random();
  }

  /** Mulberry32: small, and the same everywhere. */
  #random() {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
