import { floatsFromInt16, writeInt16, type AudioFrame } from '../audio.ts';

/** Initial capacity in windows: half a second of the usual ones. */
const fewestWindows = 16;

/**
 * The pre-roll: the latest audio, for an utterance that has begun already. In 16 bits and one buffer: every session
 * keeps it, and single windows would live just long enough to make garbage collection expensive.
 */
export class PreRoll {
  #sampleRate = 0;
  /** Ring of slots for windows, all of one size. */
  #samples = new Int16Array(0);
  #placeSamples = 0;
  #atMs = new Float64Array(0);
  #lengths = new Int32Array(0);
  #voiced = new Uint8Array(0);
  #oldest = 0;
  #count = 0;

  /** Start of the oldest window; undefined if there is none. */
  get fromMs(): number | undefined {
    return this.#count === 0 ? undefined : this.#atMs[this.#oldest];
  }

  /** Appends a window. All windows have the same rate. */
  push({ samples, sampleRate, atMs, voiced }: AudioFrame): void {
    this.#sampleRate = sampleRate;
    if (samples.length > this.#placeSamples || this.#count === this.#atMs.length) this.#makeRoom(samples.length);
    const place = this.#placeOf(this.#count);
    writeInt16(samples, this.#samples, place * this.#placeSamples);
    this.#atMs[place] = atMs;
    this.#lengths[place] = samples.length;
    this.#voiced[place] = voiced === true ? 1 : 0;
    this.#count += 1;
  }

  /** Yields the windows that begin at `atMs` or later, oldest first. */
  *since(atMs: number): Iterable<AudioFrame> {
    for (let index = 0; index < this.#count; index += 1) {
      const place = this.#placeOf(index);
      const fromMs = this.#atMs[place] ?? 0;
      if (fromMs < atMs) continue;
      const offset = place * this.#placeSamples;
      const samples = floatsFromInt16(this.#samples.subarray(offset, offset + (this.#lengths[place] ?? 0)));
      yield { samples, sampleRate: this.#sampleRate, atMs: fromMs, voiced: this.#voiced[place] === 1 };
    }
  }

  /** Drops the windows that begin before `atMs`. */
  forgetBefore(atMs: number): void {
    while (this.#count > 0 && (this.#atMs[this.#oldest] ?? atMs) < atMs) {
      this.#oldest = this.#placeOf(1);
      this.#count -= 1;
    }
  }

  clear(): void {
    this.#count = 0;
  }

  #placeOf(index: number): number {
    return (this.#oldest + index) % this.#atMs.length;
  }

  #makeRoom(windowSamples: number): void {
    const kept = [...this.since(-Infinity)];
    const places = Math.max(fewestWindows, Math.ceil(kept.length * 1.5));
    this.#placeSamples = Math.max(this.#placeSamples, windowSamples);
    this.#samples = new Int16Array(places * this.#placeSamples);
    this.#atMs = new Float64Array(places);
    this.#lengths = new Int32Array(places);
    this.#voiced = new Uint8Array(places);
    this.#oldest = 0;
    this.#count = 0;
    for (const frame of kept) this.push(frame);
  }
}
