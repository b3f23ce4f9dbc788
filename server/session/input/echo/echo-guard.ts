import { bandCount, quietDecibels, writeBandLevels, hopMs, SentLevels, type Played } from './sent-levels.ts';

/** Band levels of one microphone window. */
interface Window {
  readonly bands: Float64Array;
  readonly atMs: number;
}

/** Echo path from the loudspeaker to the microphone. */
interface Path {
  readonly lagMs: number;
  /** Gain from the sent audio to the microphone, in decibels per band. */
  readonly gains: Float64Array;
}

const sampleRate = 16_000;
const windowSamples = 512;
const windowMs = (windowSamples / sampleRate) * 1000;
/** Voiced windows compared, and the fewest that can tell an echo from a chance correlation. */
const mostWindows = 20;
const fewestWindows = 6;
/** Age of the oldest window compared. */
const longestMs = 1_500;
/** Delay between the estimated playback position and the microphone: client, room and network. */
const lagsMs = { from: -64, to: 720 };
const lagCount = (lagsMs.to - lagsMs.from) / hopMs + 1;
/** A candidate path is accepted if it predicts the levels of at least `leastProven` of the next windows. */
const provingWindows = 4;
const leastProven = 3;
/** Decibels by which an echo may exceed the prediction, averaged over the bands. */
const mostExcess = 4;
/** Reverberation starts at once and decays slowly: 60 dB in 400 ms. */
const decayPerHop = 1.2;
const decayHops = 24;
/** Levels this much below the loudest of their band are masked by room noise. */
const depth = 20;
/** Minimum change of the levels of speech in decibels, root mean square; mostly 6 or more. */
const leastMovement = 3;
/** Scratch buffers shared by all sessions: there is no await between writing and reading them. */
const shapes = new Float64Array(mostWindows * bandCount);
const places = new Int32Array(mostWindows);
const expected = new Float64Array(bandCount);

/**
 * Echo suppression: recognizes the character's own voice in the user's microphone, without cancelling it, by the levels
 * of eight bands over time, which an echo shares with the audio that was sent. Delay and gain of the echo are estimated
 * once and then expected: what is louder is another voice. Looks at voiced windows only, so it costs nothing during
 * silence.
 */
export class EchoDetector {
  readonly #windows: Window[] = [];
  readonly #sent = new SentLevels();
  #lastMs = -Infinity;
  #path: Path | undefined;
  /** A candidate path, which may be a chance correlation, with the number of windows since and of those predicted. */
  #tried: { readonly path: Path; readonly windows: number; readonly told: number } | undefined;

  /** True once an echo path has been found. */
  get echoes(): boolean {
    return this.#path !== undefined;
  }

  /**
   * Notes that a microphone window arrived at `atMs`, wall time; to be called for every window while something is
   * played.
   */
  follow(played: Played, atMs: number): void {
    if (this.#sent.follow(played, atMs)) this.#windows.length = 0;
  }

  /** Returns true if that window, voiced, 512 samples at 16 kHz, is the echo of the reply. */
  explains(samples: Float32Array, atMs: number): boolean {
    if (samples.length !== windowSamples) return false;
    // The first window of any sound looks alike.
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

  /** Returns true if the window belongs to an echo whose path has just been confirmed. */
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

  /** Returns the path with the highest correlation over the last windows, if it is high enough. */
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

  /** Computes a part of the sent levels in advance, to spread the cost. */
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

/** Writes into `places` the positions of the levels sent `lagMs` before each window; false if some are unknown. */
function locate(windows: readonly Window[], lagMs: number, sent: SentLevels): boolean {
  // Audio that is not sent yet is found soonest from the end.
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
 * Writes into `shapes` the levels of each band over time, floored at the room noise, minus their mean. Returns the sum
 * of their squares.
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

/**
 * Returns the correlation of `shapes`, whose squares sum up to `heard`, with the levels at `places`, shaped the same
 * way.
 */
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
      // The heard levels have zero mean, so the mean of the sent ones need not be subtracted.
      both += level * (shapes[band * mostWindows + index] as number);
      sum += level;
      squares += level * level;
    }
    said += squares - (sum * sum) / count;
  }
  // Constant sounds all correlate.
  const isSpeech = Math.min(heard, said) >= leastMovement ** 2 * bandCount * count;
  return isSpeech ? both / Math.sqrt(heard * said) : -1;
}

/**
 * Returns the correlation from which a path is a candidate; other speech reaches it one time in fifty, at some delay.
 */
function leastLikeness(windows: number): number {
  return 1.05 - 0.022 * windows;
}
