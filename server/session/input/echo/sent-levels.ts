import { bandCount, writeBandLevels } from './band-levels.ts';

/** What a client plays, to compare with what its microphone hears. */
export interface Played {
  /** What can have been heard of it by now, in milliseconds of what was sent. */
  readonly heardMs: number;
  /**
   * `ms` of it from `fromMs` on, in `into` where it fits; undefined where that is not known, or was never sent.
   */
  soundAt(
    fromMs: number,
    ms: number,
    into?: Float32Array,
  ): { readonly samples: Float32Array; readonly sampleRate: number } | undefined;
}

/** How far apart windows of what was sent are looked at, in milliseconds, and how long they are. */
export const hopMs = 8;
const windowMs = 32;
/** Progress kept: as many windows of the microphone, two and a half seconds. */
const keptProgress = 80;
/** Levels kept, in hops: what can be asked for lies no further apart. */
const keptHops = 512;
/** Room for a window at any rate up to 48 kHz; nobody waits between filling it and reading it. */
const sound = new Float32Array(1_536);

/** The levels of what is played, by hop, each found out once, when it is asked for. */
export class SentLevels {
  #played: Played | undefined;
  /** Most sessions never need room for them. */
  #levels = new Float64Array(0);
  #hops = new Int32Array(0);
  /** How far the reply was when, as far as the clock knows; the oldest is overwritten. */
  readonly #atMs = new Float64Array(keptProgress);
  readonly #heardMs = new Float64Array(keptProgress);
  #noted = 0;

  /** `bandCount` from each place on that `placeAt` tells, in decibels. */
  get levels(): Float64Array {
    return this.#levels;
  }

  /** Notes how far `played` is at `atMs`, wall time; times go up. Returns whether it was not played before. */
  follow(played: Played, atMs: number): boolean {
    const isNew = played !== this.#played;
    if (isNew) {
      this.#played = played;
      this.#noted = 0;
      this.#hops.fill(-1);
    }
    const place = this.#noted % keptProgress;
    this.#atMs[place] = atMs;
    this.#heardMs[place] = played.heardMs;
    this.#noted += 1;
    return isNew;
  }

  /** Where in `levels` those begin of what was heard in the window that ended at `atMs`; -1 where they are not known. */
  placeAt(atMs: number): number {
    if (this.#noted === 0) return -1;
    const before = this.#before(atMs);
    const heardMs = (this.#heardMs[before] as number) + atMs - (this.#atMs[before] as number);
    return this.#placeOf(Math.round(heardMs / hopMs));
  }

  /** The last progress that was noted until then, or the oldest that is known. */
  #before(atMs: number): number {
    const [newest, oldest] = [this.#noted - 1, Math.max(0, this.#noted - keptProgress)];
    const agoMs = (this.#atMs[newest % keptProgress] as number) - atMs;
    // Windows come one after the other, more or less.
    let index = Math.min(newest, Math.max(oldest, newest - Math.floor(agoMs / windowMs)));
    while (index > oldest && (this.#atMs[index % keptProgress] as number) > atMs) index -= 1;
    while (index < newest && (this.#atMs[(index + 1) % keptProgress] as number) <= atMs) index += 1;
    return index % keptProgress;
  }

  #placeOf(hop: number): number {
    if (hop * hopMs < windowMs) return -1;
    const index = hop % keptHops;
    const place = index * bandCount;
    if (this.#hops[index] === hop) return place;
    const sent = this.#played?.soundAt(hop * hopMs - windowMs, windowMs, sound);
    // What is still to be sent is asked for again.
    if (sent === undefined) return -1;
    if (this.#hops.length === 0) {
      this.#hops = new Int32Array(keptHops).fill(-1);
      this.#levels = new Float64Array(keptHops * bandCount);
    }
    writeBandLevels(sent.samples, sent.sampleRate, this.#levels, place);
    this.#hops[index] = hop;
    return place;
  }
}
