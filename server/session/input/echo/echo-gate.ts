import { durationMs } from '../../../../voices/audio.ts';
import type { SpeechEdge } from '../../../../voices/dsp/vad-hysteresis.ts';
import { EchoDetector } from './echo-guard.ts';
import type { Played } from './sent-levels.ts';
import type { VadWindow } from '../microphone.ts';

/**
 * Voice needed to detect a user who speaks over the echo, and echo without other voice after which the user's speech
 * ends.
 */
const leastUserMs = 96;
const leastEchoMs = 128;

/**
 * Keeps the character's own voice from counting as the user's speech: neither as voiced, nor as speech start or end.
 */
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
