import type { AudioFrame } from '../../../voices/audio.ts';
import { createEdges, type Edge, type Edges } from '../../../voices/dsp/edges.ts';
import type { VadStream } from '../../../voices/vad.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { TurnDetection } from '../contract/settings.ts';
import { takesSound } from './windows.ts';

/** What enters a session, with the wall time it came at. */
export interface Inbound {
  readonly command: SessionCommand;
  readonly arrivedMs: number;
}

/** One window of the user's audio, as the VAD heard it. */
export interface Heard {
  readonly type: 'heard';
  /** Its samples are overwritten once it has been taken. */
  readonly frame: AudioFrame;
  readonly voiced: boolean;
  readonly edge: Edge | undefined;
  readonly arrivedMs: number;
  /** Set when the VAD failed on this window, which then counts as silence. */
  readonly failure: unknown;
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

/** Keeps audio time, and finds the edges of speech by the rules of the day. */
export class Ear {
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #vad: VadStream;
  #detection: TurnDetection | null;
  #threshold = 0;
  #edges: Edges;
  #edgesFromMs = 0;
  #atMs = 0;

  constructor(parts: EarParts) {
    this.#sampleRate = parts.sampleRate;
    this.#windowSamples = parts.windowSamples;
    this.#vad = parts.vad;
    this.#detection = parts.turnDetection;
    this.#edges = this.#open(false);
  }

  /** Somebody speaks who has not been heard to stop, where it matters when they do. */
  get hearsSpeech(): boolean {
    return this.#detection !== null && this.#edges.speaking;
  }

  /** A command that stands between windows may change the rules. */
  pass(command: SessionCommand): void {
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    // Whoever speaks on after that begins to speak, as far as the session knows.
    if (takesSound(command, before)) this.#judge(false);
    else if (this.#detection?.threshold !== before?.threshold) this.#judge(true);
  }

  /** Hears a window; the last before a commit may be shorter. */
  async hear(samples: Float32Array, arrivedMs: number): Promise<Heard> {
    const sampleRate = this.#sampleRate;
    let probability = 0;
    let failure: unknown;
    try {
      probability = await this.#vad.score(padded(samples, this.#windowSamples));
    } catch (fault) {
      failure = fault;
    }
    const edge = this.#edges.push(probability);
    const voiced = probability >= this.#threshold;
    const atMs = this.#atMs;
    this.#atMs += (samples.length / sampleRate) * 1000;
    return {
      type: 'heard',
      frame: { samples, sampleRate, atMs, voiced },
      voiced,
      arrivedMs,
      edge: edge === undefined ? undefined : { ...edge, atMs: this.#edgesFromMs + edge.atMs },
      failure,
    };
  }

  /** From now on speech is judged anew; `goesOn`: what is under way goes on. */
  #judge(goesOn: boolean): void {
    this.#edges = this.#open(goesOn && this.#edges.speaking);
    this.#edgesFromMs = this.#atMs;
  }

  #open(speaking: boolean): Edges {
    // Under push to talk it says what is voiced, and ends no turn.
    this.#threshold = this.#detection?.threshold ?? 0.5;
    return createEdges({
      threshold: this.#threshold,
      exitThreshold: Math.max(0.01, this.#threshold - 0.15),
      minSpeechMs,
      minSilenceMs,
      windowMs: (this.#windowSamples / this.#sampleRate) * 1000,
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
