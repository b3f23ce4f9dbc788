import { bandCount, quietDecibels, writeBandLevels } from './band-levels.ts';
import { hopMs, SentLevels, type Played } from './sent-levels.ts';

/** One window of the microphone: its levels by band. */
interface Window {
  readonly bands: Float64Array;
  readonly atMs: number;
}

/** How the loudspeaker comes into the microphone. */
interface Path {
  readonly lagMs: number;
  /** Decibels that it is louder than what was sent, band by band. */
  readonly gains: Float64Array;
}

const sampleRate = 16_000;
const windowSamples = 512;
const windowMs = (windowSamples / sampleRate) * 1000;
/** Voiced windows looked back at, and the fewest that can tell an echo from a chance likeness. */
const mostWindows = 20;
const fewestWindows = 6;
/** How far back. */
const longestMs = 1_500;
/** Between the clock's idea of what is heard and the microphone: client, room and network. */
const lagsMs = { from: -64, to: 720 };
const lagCount = (lagsMs.to - lagsMs.from) / hopMs + 1;
/** What seems an echo is one where it tells the levels of most of the next windows beforehand. */
const provingWindows = 4;
const leastProven = 3;
/** Decibels by which an echo may be louder than expected, in the mean over bands. */
const mostExcess = 4;
/** A room takes up a sound at once and lets go of it slowly: 60 dB in 400 ms. */
const decayPerHop = 1.2;
const decayHops = 24;
/** Levels this much below the loudest of their band are drowned by the noise of a room. */
const depth = 20;
/** Decibels by which the levels of speech change, root mean square; mostly 6 or more. */
const leastMovement = 3;
/** Nobody waits between filling these and reading them: one for all sessions. */
const shapes = new Float64Array(mostWindows * bandCount);
const places = new Int32Array(mostWindows);
const expected = new Float64Array(bandCount);

/**
 * Knows the character's own voice in the user's microphone, without cancelling it: by the levels of eight bands over time,
 * which an echo has in common with what was sent. The delay and the loudness of the echo are found once and then expected:
 * what is louder than that is somebody else. Looks at voiced windows only, so that it costs nothing while nobody speaks.
 */
export class EchoGuard {
  readonly #windows: Window[] = [];
  readonly #sent = new SentLevels();
  #lastMs = -Infinity;
  #path: Path | undefined;
  /** A likeness that may be chance, with how many windows since then were as it tells. */
  #tried: { readonly path: Path; readonly windows: number; readonly told: number } | undefined;

  /** Whether there is an echo, as far as has been found out. */
  get echoes(): boolean {
    return this.#path !== undefined;
  }

  /** A window of the microphone came at `atMs`, wall time; to be told of all while something is played. */
  follow(played: Played, atMs: number): void {
    if (this.#sent.follow(played, atMs)) this.#windows.length = 0;
  }

  /** Whether that window, voiced, 512 samples at 16 kHz, is what is played, as it sounds there. */
  explains(samples: Float32Array, atMs: number): boolean {
    if (samples.length !== windowSamples) return false;
    // The first of a sound is like the first of any other.
    const isFirst = atMs - this.#lastMs > 1.5 * windowMs;
    this.#lastMs = atMs;
    const oldest = isFirst || this.#windows.length < mostWindows ? undefined : this.#windows.shift();
    const window: Window = { bands: oldest?.bands ?? new Float64Array(bandCount), atMs };
    writeBandLevels(samples, sampleRate, window.bands, 0);
    if (!isFirst) this.#windows.push(window);
    while ((this.#windows[0]?.atMs ?? atMs) <= atMs - longestMs) this.#windows.shift();
    if (this.#path !== undefined && isExpected(window, this.#path, this.#sent)) return true;
    return this.#prove(window);
  }

  /** Whether the window is one of an echo that has just been found out. */
  #prove(window: Window): boolean {
    if (this.#tried === undefined) {
      const path = this.#find();
      if (path !== undefined) this.#tried = { path, windows: 0, told: 0 };
      return false;
    }
    const { path, windows, told } = this.#tried;
    const tells = isExpected(window, path, this.#sent);
    const next = { path, windows: windows + 1, told: told + (tells ? 1 : 0) };
    this.#tried = next.windows < provingWindows ? next : undefined;
    if (this.#tried !== undefined || next.told < leastProven) return false;
    this.#path = path;
    return tells;
  }

  /** The path on which the last windows are most alike, if they are alike enough. */
  #find(): Path | undefined {
    const windows = this.#windows;
    const sent = this.#sent;
    if (windows.length < fewestWindows) {
      this.#prepare();
      return undefined;
    }
    const heard = shape(windows);
    let best = { likeness: leastLikeness(windows.length), lagMs: NaN };
    for (let index = 0; index < lagCount; index += 1) {
      const lagMs = lagsMs.from + index * hopMs;
      if (!locate(windows, lagMs, sent)) continue;
      const likeness = likenessAt(windows.length, sent.levels, heard);
      if (likeness > best.likeness) best = { likeness, lagMs };
    }
    return Number.isNaN(best.lagMs) ? undefined : pathAt(windows, best.lagMs, sent);
  }

  /** Looks up a part of what was sent, so that not all of it has to be looked up at once. */
  #prepare(): void {
    const share = Math.ceil(lagCount / (fewestWindows - 1));
    const { length } = this.#windows;
    const atMs = this.#windows[length - 1]?.atMs ?? 0;
    for (let index = 0; index < share; index += 1) {
      this.#sent.placeAt(atMs - lagsMs.to + ((length - 1) * share + index) * hopMs);
    }
  }
}

function isExpected({ bands, atMs }: Window, { lagMs, gains }: Path, sent: SentLevels): boolean {
  expected.fill(quietDecibels);
  for (let hop = -2; hop < decayHops; hop += 1) {
    const place = sent.placeAt(atMs - lagMs - hop * hopMs);
    if (place < 0) continue;
    const decay = Math.max(0, hop) * decayPerHop;
    for (let band = 0; band < bandCount; band += 1) {
      const level = (sent.levels[place + band] as number) + (gains[band] as number) - decay;
      if (level > (expected[band] as number)) expected[band] = level;
    }
  }
  let excess = 0;
  for (let band = 0; band < bandCount; band += 1) {
    excess += Math.max(0, (bands[band] as number) - (expected[band] as number));
  }
  return excess / bandCount <= mostExcess;
}

/** Writes into `places` where the levels are of what was sent `lagMs` before each window; false where not all are known. */
function locate(windows: readonly Window[], lagMs: number, sent: SentLevels): boolean {
  // What is not sent yet is found out soonest from behind.
  for (let index = windows.length - 1; index >= 0; index -= 1) {
    const place = sent.placeAt((windows[index] as Window).atMs - lagMs);
    if (place < 0) return false;
    places[index] = place;
  }
  return true;
}

function pathAt(windows: readonly Window[], lagMs: number, sent: SentLevels): Path {
  locate(windows, lagMs, sent);
  const gains = new Float64Array(bandCount);
  for (const [index, { bands }] of windows.entries()) {
    const place = places[index] as number;
    for (let band = 0; band < bandCount; band += 1) {
      const gain = (bands[band] as number) - (sent.levels[place + band] as number);
      gains[band] = (gains[band] as number) + gain / windows.length;
    }
  }
  return { lagMs, gains };
}

/**
 * Writes into `shapes` the levels of each band over time about their mean, no deeper than the noise of a room lets them
 * be. Returns the sum of their squares.
 */
function shape(windows: readonly Window[]): number {
  const count = windows.length;
  let squares = 0;
  for (let band = 0; band < bandCount; band += 1) {
    let most = -Infinity;
    for (const { bands } of windows) most = Math.max(most, bands[band] as number);
    let sum = 0;
    for (const { bands } of windows) sum += Math.max(bands[band] as number, most - depth);
    for (let index = 0; index < count; index += 1) {
      const level = Math.max((windows[index] as Window).bands[band] as number, most - depth) - sum / count;
      shapes[band * mostWindows + index] = level;
      squares += level * level;
    }
  }
  return squares;
}

/** Correlation of `shapes`, whose squares sum up to `heard`, with the same of the levels at `places`. */
function likenessAt(count: number, levels: Float64Array, heard: number): number {
  let both = 0;
  let said = 0;
  for (let band = 0; band < bandCount; band += 1) {
    let most = -Infinity;
    for (let index = 0; index < count; index += 1) {
      const level = levels[(places[index] as number) + band] as number;
      if (level > most) most = level;
    }
    const least = most - depth;
    let sum = 0;
    let squares = 0;
    for (let index = 0; index < count; index += 1) {
      const exact = levels[(places[index] as number) + band] as number;
      const level = (exact > least ? exact : least) - least;
      // What was heard has no mean, so that of what was said need not be taken off.
      both += level * (shapes[band * mostWindows + index] as number);
      sum += level;
      squares += level * level;
    }
    said += squares - (sum * sum) / count;
  }
  // Sounds that never change are all alike.
  const isSpeech = Math.min(heard, said) >= leastMovement ** 2 * bandCount * count;
  return isSpeech ? both / Math.sqrt(heard * said) : -1;
}

/** Likeness from which it may be an echo; other speech reaches this one time in fifty, at one delay or another. */
function leastLikeness(windows: number): number {
  return 1.05 - 0.022 * windows;
}
