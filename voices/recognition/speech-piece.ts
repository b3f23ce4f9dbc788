import { concatSamples } from '../audio.ts';

/** One window of the VAD: 32 ms at 16 kHz. */
const windowSamples = 512;
const windowMs = 32;
/**
 * Silence kept on either side of speech. After a second of silence the model takes what follows for silence, too; with
 * a shorter margin it misses soft onsets.
 */
const marginWindows = 9;
/** Level below which there is no speech: -66 dBFS. */
const leastLevel = 0.0005;
/** Without a VAD, a window is voiced above this fraction of the loudest window so far: 34 dB below it. */
const voiceRatio = 0.02;
/** Minimum length of the part before a cut. */
const leastCutMs = 15_000;
/** Windows on either side over which the level is averaged to find the quietest place. */
const quietWindows = 3;

interface Window {
  readonly samples: Float32Array;
  readonly voiced: boolean;
  /** Root mean square of the samples. */
  readonly level: number;
}

/**
 * Audio at 16 kHz that will be decoded at once, without the silence around it: at most 288 ms stay on either side.
 * Silence before the first voiced window is dropped, so it takes no memory.
 */
export class SpeechPiece {
  #windows: Window[] = [];
  #loudest = 0;
  #voiced = 0;
  #last = -1;
  /** Samples that do not fill a window yet. `#heldVoiced` is true if any of them is voiced. */
  #held: Float32Array = new Float32Array(0);
  #heldVoiced: boolean | undefined;

  /** Adds a block of at most 32 ms. If `voiced` is undefined, loudness decides. */
  push(block: Float32Array, voiced: boolean | undefined): void {
    if (this.#held.length > 0 || block.length < windowSamples) {
      this.#hold(block, voiced);
      return;
    }
    this.#take(block, voiced);
  }

  /** Ends the input; a last window of less than 32 ms counts, too. */
  flush(): void {
    if (this.#held.length > 0) this.#take(this.#held, this.#heldVoiced);
    this.#held = new Float32Array(0);
    this.#heldVoiced = undefined;
  }

  /** Voiced audio so far. While it does not change, decoding again gives nothing new. */
  get voicedMs(): number {
    return this.#voiced * windowMs;
  }

  /** Time since the last voiced window. */
  get silentMs(): number {
    return this.#last < 0 ? 0 : (this.#windows.length - 1 - this.#last) * windowMs;
  }

  get durationMs(): number {
    return this.#windows.length * windowMs;
  }

  /** Returns a copy of the speech with its margins. */
  speech(): Float32Array<ArrayBuffer> {
    return join(this.#windows.slice(0, this.#last + 1 + marginWindows));
  }

  /** Removes and returns the speech up to the best place to cut: a pause, otherwise the quietest moment. */
  takeFirst(): Float32Array<ArrayBuffer> {
    const cut = this.#findCut();
    const windows = this.#windows;
    this.#windows = [];
    this.#voiced = 0;
    this.#last = -1;
    for (const window of windows.slice(cut)) this.#add(window);
    return join(windows.slice(0, cut));
  }

  /** Drops the speech; the silence after it may be the margin before the next. */
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
