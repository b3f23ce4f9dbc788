import { Resampler } from '../../../voices/dsp/resampler.ts';
import { createVadHysteresis, type VadHysteresis } from '../../../voices/dsp/vad-hysteresis.ts';
import { Queue } from '../../../voices/runtime/streams.ts';
import type { Vad, VadStream } from '../../../voices/vad.ts';
import type { Clock } from '../contract/clock.ts';
import type { SessionCommand } from '../contract/events.ts';
import type { TurnDetection } from '../contract/settings.ts';
import { Silence, type ProbeLine } from './silence.ts';
import type { Inbound, VadWindow } from './utterance.ts';

const tickMs = 100;

interface MicrophoneParts {
  readonly vad: Vad;
  readonly clock: Clock;
  /** The setting at the start of the session. */
  readonly turnDetection: TurnDetection | null;
  /** Returns true if the turn machine waits for audio; called at every tick. */
  readonly missesSound: () => boolean;
  /** Tests if data of the client arrives. */
  readonly probeLine: ProbeLine | undefined;
  /** Number of its player; 0 unless given. */
  readonly player?: number;
}

/** A change of the settings or of the buffer after which speech detection restarts. */
interface Restart {
  readonly detection: TurnDetection | null;
  /** Keeps a speech segment that is under way. */
  readonly goesOn: boolean;
}

/** A window of audio that waits for the VAD, or a command that waits for the windows before it. */
type Waiting =
  | { readonly window: Float32Array; readonly arrivedMs: number; readonly upTo: number | undefined }
  | (Inbound & { readonly restart: Restart | undefined; readonly after: Promise<void> | undefined })
  | { readonly passed: () => void };

/** Takes the client's input in order: audio goes through the VAD, other commands keep their place in between. */
export class Microphone {
  readonly #parts: MicrophoneParts;
  readonly #windows: Windows;
  readonly #inbox = new Queue<Waiting>();
  readonly #silence: Silence;
  #detection: TurnDetection | null;
  #sentAudioMs = 0;
  /** The last numbered message that was sent. */
  #sequence: number | undefined;
  #away = false;
  #closed = false;
  #stopFilling: () => void = () => undefined;

  constructor(parts: MicrophoneParts) {
    this.#parts = parts;
    this.#windows = new Windows(parts.vad.sampleRate, parts.vad.windowSamples);
    this.#detection = parts.turnDetection;
    this.#silence = new Silence(parts.clock, parts.probeLine);
  }

  /** Audio received so far, in milliseconds. */
  get sentAudioMs(): number {
    return this.#sentAudioMs;
  }

  /** `after`: the command, and all that is sent later, waits for it. */
  send(command: SessionCommand, after?: Promise<void>): void {
    const arrivedMs = this.#parts.clock.now();
    if (command.type === 'audio') this.#silence.begin();
    this.#push(command, arrivedMs, after);
  }

  /** Settles once all that was sent before has been handed on. */
  passed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#closed) resolve();
    else this.#inbox.push({ passed: resolve });
    return promise;
  }

  /** Notes that the client has disconnected, or is back: meanwhile missing audio is not silence. */
  away(isAway: boolean): void {
    this.#away = isAway;
    this.#silence.begin();
  }

  /** Takes back a window handed on by `run` after it has been processed. */
  recycle(heard: VadWindow): void {
    this.#windows.recycle(heard.frame.samples);
  }

  /** Hands on the input, until `close`. */
  async run(push: (input: VadWindow | Inbound) => void): Promise<void> {
    let stream: VadStream | undefined;
    try {
      stream = this.#parts.vad.open();
      const segmenter = new VadSegmenter(this.#parts.vad, stream, this.#parts.turnDetection);
      this.#fillSilence(segmenter);
      for await (const input of this.#inbox) {
        if ('passed' in input) input.passed();
        else if ('window' in input) push(await segmenter.hear(input.window, input.arrivedMs, input.upTo));
        else {
          if (input.after !== undefined) await input.after;
          push(input);
          if (input.restart !== undefined) segmenter.restart(input.restart);
        }
      }
    } finally {
      this.close();
      stream?.close();
      // After a fault, too, nothing waits in vain.
      for await (const input of this.#inbox) if ('passed' in input) input.passed();
    }
  }

  close(): void {
    this.#closed = true;
    this.#stopFilling();
    this.#inbox.end();
  }

  /** Fills in silence: a client that stops sending (a muted microphone) must not hold the turn open. */
  #fillSilence(segmenter: VadSegmenter): void {
    if (this.#closed) return;
    const { clock, missesSound, vad } = this.#parts;
    this.#stopFilling = clock.every(tickMs, () => {
      if (this.#away) return;
      // Speech that is under way needs silence to end.
      const isMissed = missesSound() || segmenter.hearsSpeech;
      if (!isMissed) this.#silence.skip();
      const missingMs = isMissed ? this.#silence.take() : 0;
      if (missingMs === 0) return;
      const samples = new Float32Array(Math.round((missingMs / 1000) * vad.sampleRate));
      this.#push({ type: 'audio', samples, sampleRate: vad.sampleRate }, clock.now());
    });
  }

  #push(command: SessionCommand, arrivedMs: number, after?: Promise<void>): void {
    const upTo = this.#sequence;
    if (command.type === 'audio') {
      const { samples, sampleRate } = command;
      this.#sentAudioMs += (samples.length / sampleRate) * 1000;
      // The last of these windows may not hold all of this message.
      for (const window of this.#windows.push(samples, sampleRate)) this.#inbox.push({ window, arrivedMs, upTo });
      this.#sequence = command.sequence ?? this.#sequence;
      return;
    }
    const before = this.#detection;
    if (command.type === 'update') this.#detection = command.settings.turnDetection;
    const takes = takesAudio(command, before, this.#parts.player ?? 0);
    // No window may contain audio from both before and after such a command.
    const window = takes ? this.#windows.cut() : undefined;
    if (command.type === 'audio-commit' && window?.length) this.#inbox.push({ window, arrivedMs, upTo });
    this.#sequence = command.sequence ?? this.#sequence;
    // Speech that continues after the command begins there, as far as the session knows.
    const restarts = takes || this.#detection?.threshold !== before?.threshold;
    const restart = restarts ? { detection: this.#detection, goesOn: !takes } : undefined;
    this.#inbox.push({ command, arrivedMs, restart, after });
  }
}

/** Returns true if a command ends what the audio buffer of a player holds; `before`: the turn detection until then. */
function takesAudio(command: SessionCommand, before: TurnDetection | null, player: number): boolean {
  if (command.type === 'audio-commit' || command.type === 'audio-clear')
    return before !== null || (command.player ?? 0) === player;
  return command.type === 'update' && (before === null) !== (command.settings.turnDetection === null);
}

/** Scratch buffer for resampled audio; most input fits in. */
const resampled = new Float32Array(16_384);

/** Most free windows kept for reuse: more are in use only if much audio comes at once. */
const mostFree = 8;

/** Cuts the client's audio into the windows that the VAD needs. */
class Windows {
  readonly #sampleRate: number;
  readonly #windowSamples: number;
  readonly #free: Float32Array[] = [];
  /** The window being filled, and its fill level. */
  #window: Float32Array;
  #filled = 0;
  #resampler: Resampler;
  #inputRate: number;

  constructor(sampleRate: number, windowSamples: number) {
    this.#sampleRate = sampleRate;
    this.#windowSamples = windowSamples;
    this.#window = new Float32Array(windowSamples);
    this.#inputRate = sampleRate;
    this.#resampler = new Resampler(sampleRate, sampleRate);
  }

  /** Takes audio, which may be overwritten afterwards; returns the windows it completes. */
  push(samples: Float32Array, sampleRate: number): Float32Array[] {
    if (sampleRate !== this.#inputRate) {
      this.#inputRate = sampleRate;
      this.#resampler = new Resampler(sampleRate, this.#sampleRate);
    }
    const sound = this.#resampler.push(samples, resampled);
    const windows: Float32Array[] = [];
    for (let offset = 0; offset < sound.length;) {
      const end = Math.min(sound.length, offset + this.#windowSamples - this.#filled);
      this.#window.set(sound.subarray(offset, end), this.#filled);
      this.#filled += end - offset;
      offset = end;
      if (this.#filled < this.#windowSamples) break;
      windows.push(this.#window);
      this.#window = this.#free.pop() ?? new Float32Array(this.#windowSamples);
      this.#filled = 0;
    }
    return windows;
  }

  /** Takes back a window that is no longer read: 31 new buffers a second would keep the garbage collector busy. */
  recycle(window: Float32Array): void {
    if (window.length === this.#windowSamples && this.#free.length < mostFree) this.#free.push(window);
  }

  /** Returns the audio that fills no window yet, and begins a new window. */
  cut(): Float32Array {
    const rest = this.#window.slice(0, this.#filled);
    this.#filled = 0;
    return rest;
  }
}

/** Shortest speech segment that counts, and shortest silence that is considered as an end of the turn. */
const shortestMs = 96;

/** Keeps audio time, and finds speech start and end by the present settings. */
class VadSegmenter {
  readonly #vad: Pick<Vad, 'sampleRate' | 'windowSamples'>;
  readonly #stream: VadStream;
  #detection: TurnDetection | null;
  #threshold = 0;
  #edges: VadHysteresis;
  #edgesFromMs = 0;
  #atMs = 0;

  constructor(vad: Pick<Vad, 'sampleRate' | 'windowSamples'>, stream: VadStream, turnDetection: TurnDetection | null) {
    this.#vad = vad;
    this.#stream = stream;
    this.#detection = turnDetection;
    this.#edges = this.#open(false);
  }

  /** True during speech, unless the client ends turns itself. */
  get hearsSpeech(): boolean {
    return this.#detection !== null && this.#edges.speaking;
  }

  /** Restarts speech detection by these settings; `goesOn`: keeps a speech segment that is under way. */
  restart({ detection, goesOn }: Restart): void {
    this.#detection = detection;
    this.#edges = this.#open(goesOn && this.#edges.speaking);
    this.#edgesFromMs = this.#atMs;
  }

  /** Runs a window through the VAD; the last one before a commit may be shorter. */
  async hear(samples: Float32Array, arrivedMs: number, upTo?: number): Promise<VadWindow> {
    const { sampleRate, windowSamples } = this.#vad;
    const isWhole = samples.length === windowSamples;
    const whole = isWhole ? samples : Float32Array.from({ length: windowSamples }, (_, at) => samples[at] ?? 0);
    let probability = 0;
    let failure: unknown;
    try {
      probability = await this.#stream.score(whole);
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
      upTo,
      edge: edge === undefined ? undefined : { ...edge, atMs: this.#edgesFromMs + edge.atMs },
      failure,
    };
  }

  #open(speaking: boolean): VadHysteresis {
    // Under push to talk this only marks voiced audio, and ends no turn.
    this.#threshold = this.#detection?.threshold ?? 0.5;
    return createVadHysteresis({
      threshold: this.#threshold,
      exitThreshold: Math.max(0.01, this.#threshold - 0.15),
      minSpeechMs: shortestMs,
      minSilenceMs: shortestMs,
      windowMs: (this.#vad.windowSamples / this.#vad.sampleRate) * 1000,
      speaking,
    });
  }
}
