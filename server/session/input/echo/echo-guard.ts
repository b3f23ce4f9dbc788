import { bandCount, quietDecibels, writeBandLevels, hopMs, SentLevels, type Played } from './sent-levels.ts';
import { durationMs } from '../../../../voices/audio.ts';
import type { SpeechEdge } from '../../../../voices/dsp/vad-hysteresis.ts';
import type { VadWindow } from '../utterance.ts';

/** Band levels of one microphone window. */
interface Window {
  readonly bands: Float64Array;
  readonly atMs: number;
}

interface Path {
  readonly lagMs: number;
  /** Gain from the sent audio to the microphone, in decibels per band. */
  readonly gains: Float64Array;
}

const sampleRate = 16_000;
const windowSamples = 512;
const windowMs = (windowSamples / sampleRate) * 1000;
/** Voiced windows compared, and the fewest that can distinguish an echo from a chance correlation. */
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
 * Echo suppression: recognizes the character's own voice in the microphone by the levels of eight bands over time,
 * which an echo shares with what was sent. Delay and gain are estimated once and then expected: what is louder is
 * another voice. Looks at voiced windows only.
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

  /** Notes that a microphone window arrived at `atMs`, wall time. For every window while something is played. */
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
    // Other speech reaches this correlation one time in fifty, at some delay.
    let best = { likeness: 1.05 - 0.022 * windows.length, lagMs: NaN };
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

/** Writes into `shapes` the levels of each band over time, minus their mean. Returns the sum of their squares. */
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

/** Correlation of `shapes`, whose squares sum up to `heard`, with the levels at `places`, shaped the same way. */
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

/** Voice that makes a user over the echo, and echo without other voice after which the user's speech ends. */
const leastUserMs = 96;
const leastEchoMs = 128;

/** Keeps the character's own voice from counting as the user's: neither as voiced, nor as speech start or end. */
export class EchoGate {
  readonly #guard = new EchoDetector();
  #vadSpeaks = false;
  #userSpeaks = false;
  #userMs = 0;
  #echoMs = 0;
  /** Wall time minus audio time, at the smallest delay seen. */
  #aheadMs = Infinity;
  /** The present sound was echo, at least in part. */
  #echoes = false;

  /** Removes the echo of `played` from a window. `found`: the echo path was found with this window. */
  sift(heard: VadWindow, played: Played | undefined): { readonly heard: VadWindow; readonly found: boolean } {
    const knew = this.#guard.echoes;
    const isEcho = this.#isEcho(heard, played);
    if (heard.edge !== undefined) this.#vadSpeaks = heard.edge.type === 'speech-start';
    const found = isEcho && !knew;
    const edge = this.#edge(heard, isEcho, found);
    if (edge !== undefined) this.#userSpeaks = edge.type === 'speech-start';
    if (!this.#vadSpeaks && !heard.voiced) this.#reset();
    const voiced = heard.voiced && !isEcho;
    const frame = voiced === heard.voiced ? heard.frame : { ...heard.frame, voiced };
    return { heard: { ...heard, frame, voiced, edge }, found };
  }

  #isEcho({ frame, voiced, arrivedMs }: VadWindow, played: Played | undefined): boolean {
    if (played === undefined) return false;
    this.#guard.follow(played, arrivedMs);
    const endMs = frame.atMs + durationMs(frame);
    // A window is full some time before its last packet arrives; 0.03 ms per window allows for clock drift.
    this.#aheadMs = Math.min(this.#aheadMs + 0.03, arrivedMs - endMs);
    return voiced && this.#guard.explains(frame.samples, endMs + this.#aheadMs);
  }

  #edge({ frame, voiced, edge }: VadWindow, isEcho: boolean, found: boolean): SpeechEdge | undefined {
    const ms = durationMs(frame);
    if (isEcho) {
      this.#echoes = true;
      this.#echoMs += ms;
      if (this.#echoMs >= leastEchoMs || found) this.#userMs = 0;
    } else if (voiced) {
      this.#userMs += ms;
      this.#echoMs = 0;
    }
    if (!this.#echoes) return edge;
    const endMs = frame.atMs + ms;
    if (!this.#userSpeaks) {
      const begins = this.#vadSpeaks && this.#userMs >= leastUserMs;
      return begins ? { type: 'speech-start', atMs: endMs - this.#userMs } : undefined;
    }
    if (edge?.type === 'speech-end') return edge;
    if (found || this.#echoMs >= leastEchoMs) return { type: 'speech-end', atMs: endMs - this.#echoMs };
    return undefined;
  }

  #reset(): void {
    this.#userMs = 0;
    this.#echoMs = 0;
    this.#echoes = false;
  }
}
