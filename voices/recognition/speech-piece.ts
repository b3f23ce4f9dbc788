import { concatSamples } from '../audio.ts';

/** 32 ms at 16 kHz: one decision of the VAD. */
const windowSamples = 512;
const windowMs = 32;
/** After a second of silence the model takes what follows for silence, too; with less than this it misses soft starts. */
const marginWindows = 9;
/** Nothing below -66 dBFS is sound. */
const leastLevel = 0.0005;
/** Where no VAD listens, a window is voiced above this part of the loudest window so far: 34 dB below it. */
const voiceRatio = 0.02;
/** A cut leaves at least this on its left. */
const leastCutMs = 15_000;
/** How far around a window loudness is averaged to find the quietest place. */
const quietWindows = 3;

interface Window {
  readonly samples: Float32Array;
  readonly voiced: boolean;
  /** Root mean square. */
  readonly level: number;
}

/**
 * Audio at 16 kHz that will be decoded at once, without the silence around it: at most 288 ms stay on either side. Silence
 * before the first voiced window takes no memory, however long it is.
 */
export class SpeechPiece {
  #windows: Window[] = [];
  #loudest = 0;
  #voiced = 0;
  #last = -1;
  /** The beginning of a window, and whether any of it is voiced. */
  #held: Float32Array = new Float32Array(0);
  #heldVoiced: boolean | undefined;

  /** Adds a block of at most 32 ms. `voiced` undefined: loudness decides. */
  push(block: Float32Array, voiced: boolean | undefined): void {
    if (this.#held.length > 0 || block.length < windowSamples) {
      this.#hold(block, voiced);
      return;
    }
    this.#take(block, voiced);
  }

  /** No more blocks come: what fills no window of 32 ms counts, too. */
  flush(): void {
    if (this.#held.length > 0) this.#take(this.#held, this.#heldVoiced);
    this.#held = new Float32Array(0);
    this.#heldVoiced = undefined;
  }

  /** Voiced audio so far. Nothing is worth decoding again until it changes. */
  get voicedMs(): number {
    return this.#voiced * windowMs;
  }

  /** Since the last voiced window. */
  get silentMs(): number {
    return this.#last < 0 ? 0 : (this.#windows.length - 1 - this.#last) * windowMs;
  }

  get durationMs(): number {
    return this.#windows.length * windowMs;
  }

  /** A copy of the speech with its margins. */
  speech(): Float32Array<ArrayBuffer> {
    return join(this.#windows.slice(0, this.#last + 1 + marginWindows));
  }

  /** Removes the speech up to the best place to cut, a pause or else the quietest moment, and returns it. */
  takeFirst(): Float32Array<ArrayBuffer> {
    const cut = this.#findCut();
    const windows = this.#windows;
    this.#windows = [];
    this.#voiced = 0;
    this.#last = -1;
    for (const window of windows.slice(cut)) this.#add(window);
    return join(windows.slice(0, cut));
  }

  /** Forgets the speech; the silence after it may be the margin before the next. */
  clear(): void {
    this.#windows = this.#windows.slice(this.#last + 1).slice(-marginWindows);
    this.#voiced = 0;
    this.#last = -1;
  }

  #hold(block: Float32Array, voiced: boolean | undefined): void {
    const joined = concatSamples([this.#held, block]);
    if (voiced !== undefined) this.#heldVoiced = (this.#heldVoiced ?? false) || voiced;
    this.#held = joined.subarray(0, windowSamples);
    if (joined.length < windowSamples) return;
    this.flush();
    if (joined.length > windowSamples) this.#hold(joined.subarray(windowSamples), voiced);
  }

  #take(samples: Float32Array, voiced: boolean | undefined): void {
    const level = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length) || 0;
    this.#loudest = Math.max(this.#loudest, level);
    const isLoud = level >= this.#loudest * voiceRatio;
    this.#add({ samples, voiced: level >= leastLevel && (voiced ?? isLoud), level });
  }

  #add(window: Window): void {
    this.#windows.push(window);
    if (window.voiced) {
      this.#voiced += 1;
      this.#last = this.#windows.length - 1;
    } else if (this.#last < 0 && this.#windows.length > marginWindows) this.#windows.shift();
  }

  #findCut(): number {
    const first = Math.min(leastCutMs / windowMs, this.#windows.length >> 1);
    let best = this.#windows.length;
    let bestLevel = Number.POSITIVE_INFINITY;
    for (let index = first; index < this.#windows.length; index += 1) {
      const around = this.#windows.slice(index - quietWindows, index + quietWindows + 1);
      const level = around.reduce((sum, window) => sum + window.level * (window.voiced ? 1 : 0.1), 0) / around.length;
      if (level >= bestLevel) continue;
      bestLevel = level;
      best = index;
    }
    return best;
  }
}

function join(windows: readonly Window[]): Float32Array<ArrayBuffer> {
  return concatSamples(windows.map(({ samples }) => samples)) as Float32Array<ArrayBuffer>;
}
