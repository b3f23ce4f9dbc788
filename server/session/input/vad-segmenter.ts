import type { AudioFrame } from '../../../voices/audio.ts';
import { createVadHysteresis, type SpeechEdge, type VadHysteresis } from '../../../voices/dsp/vad-hysteresis.ts';
import type { VadStream } from '../../../voices/vad.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { TurnDetection } from '../contract/settings.ts';
import { takesSound } from './windows.ts';

/** A command as it enters a session, with the wall time of its arrival. */
export interface Inbound {
  readonly command: SessionCommand;
  readonly arrivedMs: number;
}

/** One window of the user's audio, with the VAD's result. */
export interface VadWindow {
  readonly type: 'heard';
  /** Its samples are overwritten once it has been processed. */
  readonly frame: AudioFrame;
  readonly voiced: boolean;
  readonly edge: SpeechEdge | undefined;
  readonly arrivedMs: number;
  /** Set if the VAD failed on this window, which then counts as silence. */
  readonly failure: unknown;
}

/** Shortest speech segment that counts, and shortest silence that is considered as an end of the turn. */
const minSpeechMs = 96;
const minSilenceMs = 96;

interface EarParts {
  readonly vad: VadStream;
  /** Format that the VAD needs. */
  readonly sampleRate: number;
  readonly windowSamples: number;
  /** The setting at the start; commands may change it. */
  readonly turnDetection: TurnDetection | null;
}

/** Keeps audio time, and finds speech start and end by the present settings. */
export class VadSegmenter {
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #vad: VadStream;
  #detection: TurnDetection | null;
  #threshold = 0;
  #edges: VadHysteresis;
  #edgesFromMs = 0;
  #atMs = 0;

  constructor(parts: EarParts) {
    this.#sampleRate = parts.sampleRate;
    this.#windowSamples = parts.windowSamples;
    this.#vad = parts.vad;
    this.#detection = parts.turnDetection;
    this.#edges = this.#open(false);
  }

  /** True during speech, unless the client ends turns itself. */
  get hearsSpeech(): boolean {
    return this.#detection !== null && this.#edges.speaking;
  }

  /** Notes a command, which may change the settings. */
  pass(command: SessionCommand): void {
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    // Speech that continues after the command begins there, as far as the session knows.
    if (takesSound(command, before)) this.#judge(false);
    else if (this.#detection?.threshold !== before?.threshold) this.#judge(true);
  }

  /** Runs a window through the VAD; the last one before a commit may be shorter. */
  async hear(samples: Float32Array, arrivedMs: number): Promise<VadWindow> {
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

  /** Restarts speech detection; `goesOn`: keeps a speech segment that is under way. */
  #judge(goesOn: boolean): void {
    this.#edges = this.#open(goesOn && this.#edges.speaking);
    this.#edgesFromMs = this.#atMs;
  }

  #open(speaking: boolean): VadHysteresis {
    // Under push to talk this only tells what is voiced, and ends no turn.
    this.#threshold = this.#detection?.threshold ?? 0.5;
    return createVadHysteresis({
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
