import { Rechunker, type AudioFrame } from '../../voices/audio.ts';
import { createEdges, type Edge, type Edges } from '../../voices/edges.ts';
import { Resampler } from '../../voices/resampler.ts';
import type { VadStream } from '../../voices/vad.ts';
import type { SessionCommand } from './events.ts';
import type { TurnDetection } from './settings.ts';

/** What enters a session, with the wall time it came at. */
export interface Inbound {
  readonly command: SessionCommand;
  readonly arrivedMs: number;
}

/** One window of the user's audio, as the VAD heard it. */
export interface Heard {
  readonly type: 'heard';
  readonly frame: AudioFrame;
  readonly voiced: boolean;
  readonly edge?: Edge;
  readonly arrivedMs: number;
  /** Set when the VAD failed on this window, which then counts as silence. */
  readonly failure?: unknown;
}

/** Shortest run of speech that counts, and shortest silence that is looked at as a possible end of the turn. */
const minSpeechMs = 96;
const minSilenceMs = 96;

interface EarParts {
  readonly vad: VadStream;
  /** What the VAD wants. */
  readonly sampleRate: number;
  readonly windowSamples: number;
  /** What it begins with; commands that pass may change it. */
  readonly turnDetection: TurnDetection | null;
}

/** Turns appended audio into heard windows; every other command passes through in its place. */
export async function* hear(inbox: AsyncIterable<Inbound>, ear: Ear): AsyncIterable<Heard | Inbound> {
  const windows = new Rechunker(ear.windowSamples);
  let { detection } = ear;
  let inputRate = ear.sampleRate;
  let resampler = new Resampler(inputRate, ear.sampleRate);
  for await (const inbound of inbox) {
    const { command, arrivedMs } = inbound;
    if (command.type === 'audio') {
      if (command.sampleRate !== inputRate) {
        inputRate = command.sampleRate;
        resampler = new Resampler(inputRate, ear.sampleRate);
      }
      for (const samples of windows.push(resampler.push(command.samples))) yield await ear.hear(samples, arrivedMs);
      continue;
    }
    const before = detection;
    if (command.type === 'update') detection = command.settings.turnDetection;
    const takesSound =
      command.type === 'audio-commit' || command.type === 'audio-clear' || (before === null) !== (detection === null);
    const rest = takesSound ? windows.flush() : undefined;
    if (command.type === 'audio-commit' && rest !== undefined && rest.length > 0) yield await ear.hear(rest, arrivedMs);
    yield inbound;
    // Whoever speaks on after that begins to speak, as far as the session knows.
    if (takesSound) ear.judge(detection, false);
    else if (detection?.threshold !== before?.threshold) ear.judge(detection, true);
  }
}

/** Keeps audio time, and finds the edges of speech by the rules of the day. */
export class Ear {
  readonly sampleRate: number;
  readonly windowSamples: number;
  readonly #vad: VadStream;
  #detection: TurnDetection | null;
  #threshold = 0;
  #edges: Edges;
  #edgesFromMs = 0;
  #atMs = 0;

  constructor(parts: EarParts) {
    this.sampleRate = parts.sampleRate;
    this.windowSamples = parts.windowSamples;
    this.#vad = parts.vad;
    this.#detection = parts.turnDetection;
    this.#edges = this.#open(false);
  }

  /** How turns are found; null under push to talk. */
  get detection(): TurnDetection | null {
    return this.#detection;
  }

  /** Somebody speaks who has not been heard to stop, where it matters when they do. */
  get hearsSpeech(): boolean {
    return this.#detection !== null && this.#edges.speaking;
  }

  /** From now on speech is judged anew; `goesOn`: what is under way goes on. */
  judge(detection: TurnDetection | null, goesOn: boolean): void {
    this.#detection = detection;
    this.#edges = this.#open(goesOn && this.#edges.speaking);
    this.#edgesFromMs = this.#atMs;
  }

  /** Hears a window; the last before a commit may be shorter. */
  async hear(samples: Float32Array, arrivedMs: number): Promise<Heard> {
    const { sampleRate, windowSamples } = this;
    const { probability, failure } = await score(this.#vad, padded(samples, windowSamples));
    const edge = this.#edges.push(probability);
    const voiced = probability >= this.#threshold;
    const atMs = this.#atMs;
    this.#atMs += (samples.length / sampleRate) * 1000;
    return {
      type: 'heard',
      frame: { samples, sampleRate, atMs, voiced },
      voiced,
      arrivedMs,
      ...(edge === undefined ? {} : { edge: { ...edge, atMs: this.#edgesFromMs + edge.atMs } }),
      ...(failure === undefined ? {} : { failure }),
    };
  }

  #open(speaking: boolean): Edges {
    const { sampleRate, windowSamples } = this;
    // Under push to talk it says what is voiced, and ends no turn.
    this.#threshold = this.#detection?.threshold ?? 0.5;
    return createEdges({
      threshold: this.#threshold,
      exitThreshold: Math.max(0.01, this.#threshold - 0.15),
      minSpeechMs,
      minSilenceMs,
      windowMs: (windowSamples / sampleRate) * 1000,
      speaking,
    });
  }
}

function padded(samples: Float32Array, length: number): Float32Array {
  if (samples.length === length) return samples;
  const whole = new Float32Array(length);
  whole.set(samples);
  return whole;
}

async function score(vad: VadStream, window: Float32Array): Promise<{ probability: number; failure?: unknown }> {
  try {
    return { probability: await vad.score(window) };
  } catch (failure) {
    return { probability: 0, failure };
  }
}
