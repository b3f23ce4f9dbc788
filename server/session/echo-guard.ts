import { createRealDft } from '../../voices/dft.ts';
import { resample } from '../../voices/resampler.ts';

/** What a client plays, to compare with what its microphone hears. */
export interface Played {
  /** What can have been heard of it by now, in milliseconds of what was sent. */
  readonly heardMs: number;
  /** `ms` of it from `fromMs` on; undefined where that is not known, or was never sent. */
  soundAt(fromMs: number, ms: number): { readonly samples: Float32Array; readonly sampleRate: number } | undefined;
}

type Bands = Float64Array;

interface Window {
  readonly bands: Bands;
  readonly atMs: number;
}

/** How the loudspeaker comes into the microphone. */
interface Path {
  readonly lagMs: number;
  /** Decibels that it is louder than what was sent, band by band. */
  readonly gains: Bands;
}

const sampleRate = 16_000;
const windowMs = 32;
const windowSamples = (sampleRate * windowMs) / 1000;
const hopMs = 8;
/** Voiced windows looked back at, and the fewest that can tell an echo from a chance likeness. */
/** How far back. */
const longestMs = 1_500;
const keptProgress = 80;
const mostHops = 1_000;
const mostWindows = 20;
const fewestWindows = 6;
/** Between the clock's idea of what is heard and the microphone: client, room and network. */
const lagsMs = { from: -64, to: 720 };
/** What seems an echo is one where it tells the levels of most of the next windows beforehand. */
const provingWindows = 4;
const leastProven = 3;
/** Decibels by which an echo may be louder than expected, in the mean over bands. */
const mostExcess = 4;
/** A room takes up a sound at once and lets go of it slowly: 60 dB in 400 ms. */
const decayPerHop = 1.2;
const decayHops = 24;
const edgesHertz = [150, 300, 500, 750, 1_100, 1_600, 2_300, 3_300, 5_000];
/** Nobody waits between filling them and reading them: one for all sessions. */
const dft = createRealDft(windowSamples);
const power = new Float64Array(windowSamples / 2 + 1);
const scratch = new Float64Array(mostWindows);
const tapered = new Float64Array(windowSamples);
const bandCount = edgesHertz.length - 1;
const depth = 20;
const quietDecibels = -65;

/**
 * Knows the character's own voice in the user's microphone, without cancelling it: by the levels of eight bands over time,
 * which an echo has in common with what was sent. The delay and the loudness of the echo are found once and then expected:
 * what is louder than that is somebody else. Looks at voiced windows only, so that it costs nothing while nobody speaks.
 */
export class EchoGuard {
  #windows: Window[] = [];
  /** How far the reply was when, as far as the clock knows. */
  #progress: { readonly atMs: number; readonly heardMs: number }[] = [];
  #played: Played | undefined;
  /** Levels of what was sent, by hop. */
  #sent = new Map<number, Bands | undefined>();
  #path: Path | undefined;
  /** A likeness that may be chance, with how many windows since then were as it tells. */
  #tried: { readonly path: Path; readonly windows: number; readonly told: number } | undefined;

  /** Whether there is an echo, as far as has been found out. */
  get echoes(): boolean {
    return this.#path !== undefined;
  }

  /** A window of the microphone came at `atMs`, wall time; to be told of all while something is played. */
  follow(played: Played, atMs: number): void {
    if (played !== this.#played) {
      this.#windows = [];
      this.#progress = [];
      this.#sent.clear();
      this.#played = played;
    }
    this.#progress.push({ atMs, heardMs: played.heardMs });
    if (this.#progress.length > keptProgress) this.#progress.shift();
  }

  /** Whether that window, voiced, 512 samples at 16 kHz, is what is played, as it sounds there. */
  explains(samples: Float32Array, atMs: number): boolean {
    if (samples.length !== windowSamples) return false;
    const window: Window = { bands: bandsOf(samples), atMs };
    this.#windows.push(window);
    this.#windows = this.#windows.slice(-mostWindows).filter((one) => one.atMs > atMs - longestMs);
    if (this.#sent.size > mostHops) this.#sent.clear();
    if (this.#path !== undefined && this.#isExpected(window, this.#path)) return true;
    return this.#prove(window);
  }

  /** Whether the window is one of an echo that has just been found out. */
  #prove(window: Window): boolean {
    const tried = this.#tried ?? { path: this.#find(), windows: 0, told: 0 };
    if (tried.path === undefined) return false;
    if (this.#tried === undefined) {
      this.#tried = { ...tried, path: tried.path };
      return false;
    }
    const isExpected = this.#isExpected(window, tried.path);
    const next = { path: tried.path, windows: tried.windows + 1, told: tried.told + (isExpected ? 1 : 0) };
    this.#tried = next.windows < provingWindows ? next : undefined;
    if (this.#tried !== undefined || next.told < leastProven) return false;
    this.#path = tried.path;
    return isExpected;
  }

  #isExpected({ bands, atMs }: Window, { lagMs, gains }: Path): boolean {
    let excess = 0;
    for (let band = 0; band < bands.length; band += 1) {
      let most = quietDecibels;
      for (let hop = -2; hop < decayHops; hop += 1) {
        const sent = this.#sentAt(atMs - lagMs - hop * hopMs)?.[band] ?? -Infinity;
        most = Math.max(most, sent + (gains[band] as number) - Math.max(0, hop) * decayPerHop);
      }
      excess += Math.max(0, (bands[band] as number) - most);
    }
    return excess / bands.length <= mostExcess;
  }

  /** The path on which the last windows are most alike, if they are alike enough. */
  #find(): Path | undefined {
    if (this.#windows.length < fewestWindows) return undefined;
    const heard = this.#windows.map(({ bands }) => bands);
    const shapes = Array.from({ length: bandCount }, (_, band) =>
      shapeOf(heard, band, new Float64Array(this.#windows.length)),
    );
    let best = { likeness: leastLikeness(this.#windows.length), lagMs: NaN };
    for (let lagMs = lagsMs.from; lagMs <= lagsMs.to; lagMs += hopMs) {
      const likeness = this.#likeness(lagMs, shapes);
      if (likeness > best.likeness) best = { likeness, lagMs };
    }
    if (Number.isNaN(best.lagMs)) return undefined;
    const gains = new Float64Array(bandCount);
    for (const { bands, atMs } of this.#windows) {
      const sent = this.#sentAt(atMs - best.lagMs);
      for (let band = 0; band < gains.length; band += 1) {
        gains[band] = (gains[band] as number) + ((bands[band] as number) - (sent?.[band] ?? 0)) / this.#windows.length;
      }
    }
    return { lagMs: best.lagMs, gains };
  }

  /** Correlation of what was heard, `shapes`, and what was sent. -1 where not all of that is known. */
  #likeness(lagMs: number, shapes: readonly Float64Array[]): number {
    const sent: Bands[] = [];
    for (const { atMs } of this.#windows) {
      const bands = this.#sentAt(atMs - lagMs);
      if (bands === undefined) return -1;
      sent.push(bands);
    }
    let [both, heard, said] = [0, 0, 0];
    for (const [band, left] of shapes.entries()) {
      const right = shapeOf(sent, band, scratch);
      for (let index = 0; index < left.length; index += 1) {
        const [one, other] = [left[index] as number, right[index] as number];
        both += one * other;
        heard += one * one;
        said += other * other;
      }
    }
    return both / Math.sqrt(heard * said || 1);
  }

  /** Levels of what was heard in the window that ended at `atMs`. */
  #sentAt(atMs: number): Bands | undefined {
    const before = this.#progress.findLast((one) => one.atMs <= atMs) ?? this.#progress[0];
    if (before === undefined) return undefined;
    const hop = Math.round((before.heardMs + atMs - before.atMs) / hopMs);
    if (this.#sent.has(hop)) return this.#sent.get(hop);
    const sound = this.#played?.soundAt(hop * hopMs - windowMs, windowMs);
    const bands = sound === undefined ? undefined : bandsOf(resample(sound.samples, sound.sampleRate, sampleRate));
    // What is still to be sent is asked for again.
    if (bands !== undefined) this.#sent.set(hop, bands);
    return bands;
  }
}

/** Levels in decibels. */
function bandsOf(samples: Float32Array): Bands {
  for (let index = 0; index < windowSamples; index += 1) {
    tapered[index] = (samples[index] ?? 0) * Math.sin((Math.PI * (index + 0.5)) / windowSamples);
  }
  dft.powerSpectrum(tapered, 0, power);
  const bands = new Float64Array(bandCount);
  for (let band = 0; band < bands.length; band += 1) {
    const [from, to] = [edgesHertz[band] as number, edgesHertz[band + 1] as number].map((hertz) =>
      Math.round((hertz * windowSamples) / sampleRate),
    ) as [number, number];
    let sum = 0;
    for (let bin = from; bin < to; bin += 1) sum += power[bin] as number;
    bands[band] = Math.max(quietDecibels, 10 * Math.log10((4 * sum) / windowSamples ** 2 + 1e-12));
  }
  return bands;
}

/** The levels of one band over time about their mean, no deeper than the noise of a room lets them be; written into `shape`. */
function shapeOf(windows: readonly Bands[], band: number, shape: Float64Array): Float64Array {
  let most = -Infinity;
  for (const bands of windows) most = Math.max(most, bands[band] as number);
  let sum = 0;
  for (let index = 0; index < windows.length; index += 1) {
    const level = Math.max(windows[index]?.[band] as number, most - depth);
    shape[index] = level;
    sum += level;
  }
  for (let index = 0; index < windows.length; index += 1)
    shape[index] = (shape[index] as number) - sum / windows.length;
  return shape;
}

/** Likeness from which it may be an echo; other speech reaches this one time in fifty, at one delay or another. */
function leastLikeness(windows: number): number {
  return 1.05 - 0.022 * windows;
}
