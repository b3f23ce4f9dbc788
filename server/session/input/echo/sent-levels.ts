import { createRealDft, type RealDft } from '../../../../voices/dsp/dft.ts';

/** Audio that a client plays, to compare with its microphone. */
export interface Played {
  /** Playback position, in milliseconds of what was sent. */
  readonly heardMs: number;
  /** Returns `ms` of it from `fromMs` on, in `into` if it fits; undefined if that is not kept, or was never sent. */
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

const edgesHertz = [150, 300, 500, 750, 1_100, 1_600, 2_300, 3_300, 5_000];

/** Number of frequency bands in which audio is compared. */
export const bandCount = edgesHertz.length - 1;

/** Lowest level, in decibels. */
export const quietDecibels = -65;

/** Buffers and transform for one window length, shared by all sessions: no await comes between use. */
interface Bench {
  readonly dft: RealDft;
  readonly taper: Float64Array;
  readonly tapered: Float64Array;
  readonly power: Float64Array;
}

/** One for each output sample rate of a voice, and one for microphones. */
const benches = new Map<number, Bench>();

const mostBenches = 8;

/** Writes the levels of a window, in decibels, into `levels` from `offset` on, `bandCount` of them. */
export function writeBandLevels(samples: Float32Array, sampleRate: number, levels: Float64Array, offset: number): void {
  // The transform needs an even number.
  const size = samples.length - (samples.length % 2);
  const { dft, taper, tapered, power } = benchFor(size);
  for (let index = 0; index < size; index += 1) tapered[index] = (samples[index] as number) * (taper[index] as number);
  dft.powerSpectrum(tapered, 0, power);
  for (let band = 0; band < bandCount; band += 1) {
    const from = Math.round(((edgesHertz[band] as number) * size) / sampleRate);
    const to = Math.min(power.length, Math.round(((edgesHertz[band + 1] as number) * size) / sampleRate));
    let sum = 0;
    for (let bin = from; bin < to; bin += 1) sum += power[bin] as number;
    levels[offset + band] = Math.max(quietDecibels, 10 * Math.log10((4 * sum) / size ** 2 + 1e-12));
  }
}

function benchFor(size: number): Bench {
  const known = benches.get(size);
  if (known !== undefined) return known;
  if (benches.size === mostBenches) benches.clear();
  const taper = Float64Array.from({ length: size }, (_, index) => Math.sin((Math.PI * (index + 0.5)) / size));
  const bench = {
    dft: createRealDft(size),
    taper,
    tapered: new Float64Array(size),
    power: new Float64Array(size / 2 + 1),
  };
  benches.set(size, bench);
  return bench;
}
