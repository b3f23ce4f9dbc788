import { durationMs } from '../../../../voices/audio.ts';
import type { Edge } from '../../../../voices/dsp/edges.ts';
import { EchoGuard } from './echo-guard.ts';
import type { Played } from './sent-levels.ts';
import type { Heard } from '../vad-segmenter.ts';

/** A user who speaks into the echo is heard from there on, and no more after so much of nothing but echo. */
const leastUserMs = 96;
const leastEchoMs = 128;

/** Keeps the character's own voice from counting as speech of the user: neither as voiced, nor as a start or an end. */
export class EchoGate {
  readonly #guard = new EchoGuard();
  #vadSpeaks = false;
  #userSpeaks = false;
  #userMs = 0;
  #echoMs = 0;
  /** Wall time less audio time, where nothing was late. */
  #aheadMs = Infinity;
  /** The sound under way has been echo, in part at least. */
  #echoes = false;

  /** What is left of a window without the echo of `played`. `found`: that there is an echo has only now come out. */
  sift(heard: Heard, played: Played | undefined): { readonly heard: Heard; readonly found: boolean } {
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

  #isEcho({ frame, voiced, arrivedMs }: Heard, played: Played | undefined): boolean {
    if (played === undefined) return false;
    this.#guard.follow(played, arrivedMs);
    const endMs = frame.atMs + durationMs(frame);
    // A window is full some time before the packet that fills it comes; the clocks may drift apart.
    this.#aheadMs = Math.min(this.#aheadMs + 0.03, arrivedMs - endMs);
    return voiced && this.#guard.explains(frame.samples, endMs + this.#aheadMs);
  }

  #edge({ frame, voiced, edge }: Heard, isEcho: boolean, found: boolean): Edge | undefined {
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
