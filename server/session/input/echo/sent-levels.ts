import { bandCount, writeBandLevels } from './band-levels.ts';

/** Audio that a client plays, to compare with its microphone. */
export interface Played {
  /** Playback position, in milliseconds of what was sent. */
  readonly heardMs: number;
  /**
   * Returns `ms` of it from `fromMs` on, in `into` if it fits; undefined if that is no longer kept, or was never sent.
   */
  soundAt(
    fromMs: number,
    ms: number,
    into?: Float32Array,
  ): { readonly samples: Float32Array; readonly sampleRate: number } | undefined;
}

/** Hop between windows of the sent audio and their length, in milliseconds. */
export const hopMs = 8;
const windowMs = 32;
/** Progress entries kept: as many microphone windows, two and a half seconds. */
const keptProgress = 80;
/** Levels kept, in hops: requests span no more than that. */
const keptHops = 512;
/** Scratch buffer for a window at any rate up to 48 kHz; there is no await between writing and reading it. */
const sound = new Float32Array(1_536);

/** Band levels of the audio that is played, by hop; each is computed once, on request. */
export class SentLevels {
  #played: Played | undefined;
  /** Allocated on first use: most sessions never need it. */
  #levels = new Float64Array(0);
  #hops = new Int32Array(0);
  /** Playback position by wall time; a ring that overwrites the oldest entry. */
  readonly #atMs = new Float64Array(keptProgress);
  readonly #heardMs = new Float64Array(keptProgress);
  #noted = 0;

  /** Levels in decibels: `bandCount` from each position that `placeAt` returns. */
  get levels(): Float64Array {
    return this.#levels;
  }

  /** Notes the playback position at `atMs`, wall time; times must not decrease. Returns true if `played` is new. */
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

  /** Returns the position in `levels` of the window whose playback ended at `atMs`; -1 if it is unknown. */
  placeAt(atMs: number): number {
    if (this.#noted === 0) return -1;
    const before = this.#before(atMs);
    const heardMs = (this.#heardMs[before] as number) + atMs - (this.#atMs[before] as number);
    return this.#placeOf(Math.round(heardMs / hopMs));
  }

  /** Returns the last progress entry up to `atMs`, or the oldest one. */
  #before(atMs: number): number {
    const [newest, oldest] = [this.#noted - 1, Math.max(0, this.#noted - keptProgress)];
    const agoMs = (this.#atMs[newest % keptProgress] as number) - atMs;
    // Windows arrive at roughly regular intervals.
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
    // Not cached: audio that is still to be sent is requested again.
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
