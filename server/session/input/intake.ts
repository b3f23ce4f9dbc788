import { Queue } from '../../../voices/runtime/queue.ts';
import type { Vad } from '../../../voices/vad.ts';
import type { Clock } from '../contract/clock.ts';
import type { SessionCommand } from '../contract/events.ts';
import { VadSegmenter, type VadWindow, type Inbound } from './vad-segmenter.ts';
import type { TurnDetection } from '../contract/settings.ts';
import { Silence, type ProbeLine } from './silence.ts';
import { Windows } from './windows.ts';

const tickMs = 100;

interface IntakeParts {
  readonly vad: Vad;
  readonly clock: Clock;
  /** The setting at the start of the session. */
  readonly turnDetection: TurnDetection | null;
  /** Returns true if the turn machine waits for audio; called at every tick. */
  readonly missesSound: () => boolean;
  /** Tests whether what the client sends gets through. */
  readonly probeLine?: ProbeLine;
}

/** A window of audio that waits for the VAD. */
interface Waiting {
  readonly window: Float32Array;
  readonly arrivedMs: number;
}

/**
 * Takes the client's input in order: its audio goes through the VAD, its other commands keep their place in between.
 */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #windows: Windows;
  readonly #inbox = new Queue<Waiting | Inbound>();
  readonly #silence: Silence;
  #sentAudioMs = 0;
  #away = false;
  #closed = false;
  #stopFilling: () => void = () => undefined;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#windows = new Windows(parts.vad.sampleRate, parts.vad.windowSamples, parts.turnDetection);
    this.#silence = new Silence(parts.clock, parts.probeLine);
  }

  /** Audio received so far, in milliseconds. */
  get sentAudioMs(): number {
    return this.#sentAudioMs;
  }

  send(command: SessionCommand): void {
    const arrivedMs = this.#parts.clock.now();
    if (command.type === 'audio') this.#silence.begin();
    this.#push(command, arrivedMs);
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
    const { turnDetection, vad } = this.#parts;
    const { sampleRate, windowSamples } = vad;
    const stream = vad.open();
    const ear = new VadSegmenter({ vad: stream, sampleRate, windowSamples, turnDetection });
    this.#fillSilence(ear);
    try {
      for await (const input of this.#inbox) {
        if ('window' in input) push(await ear.hear(input.window, input.arrivedMs));
        else {
          push(input);
          ear.pass(input.command);
        }
      }
    } finally {
      this.close();
      stream.close();
    }
  }

  close(): void {
    this.#closed = true;
    this.#stopFilling();
    this.#inbox.end();
  }

  /**
   * Fills in silence: a client that stops sending (a muted microphone, a finished file) must not hold the turn open.
   */
  #fillSilence(ear: VadSegmenter): void {
    if (this.#closed) return;
    const { clock, missesSound, vad } = this.#parts;
    const { sampleRate } = vad;
    this.#stopFilling = clock.every(tickMs, () => {
      if (this.#away) return;
      // Speech that is under way needs silence to end.
      const isMissed = missesSound() || ear.hearsSpeech;
      if (!isMissed) this.#silence.skip();
      const missingMs = isMissed ? this.#silence.take() : 0;
      if (missingMs === 0) return;
      const samples = new Float32Array(Math.round((missingMs / 1000) * sampleRate));
      this.#push({ type: 'audio', samples, sampleRate }, clock.now());
    });
  }

  #push(command: SessionCommand, arrivedMs: number): void {
    if (command.type === 'audio') {
      const { samples, sampleRate } = command;
      this.#sentAudioMs += (samples.length / sampleRate) * 1000;
      for (const window of this.#windows.push(samples, sampleRate)) this.#inbox.push({ window, arrivedMs });
      return;
    }
    const window = this.#windows.pass(command);
    if (window !== undefined) this.#inbox.push({ window, arrivedMs });
    this.#inbox.push({ command, arrivedMs });
  }
}
