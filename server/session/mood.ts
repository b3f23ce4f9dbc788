import { feel, rounded, type FeltEvent } from '../../agents/feel.ts';
import { calmFeelings, type Feelings } from '../../agents/feelings.ts';
import type { Clock } from './clock.ts';
import { textOf, type Item } from './conversation.ts';
import type { SessionEvent } from './events.ts';

/** How the character of a session feels by now; moved by what the client is told of the talk. */
export class Mood {
  readonly #clock: Clock;
  #feelings: Feelings = calmFeelings;
  #atMs: number;

  /** `items`: what was said before, in a conversation that goes on. */
  constructor(clock: Clock, items: readonly Item[] = []) {
    this.#clock = clock;
    this.#atMs = clock.now();
    for (const item of items) this.#noteItem(item);
  }

  /** In whole numbers; `hearing`: as if this had just been heard too. */
  now(hearing?: string): Feelings {
    this.#rest();
    return rounded(hearing === undefined ? this.#feelings : feel(this.#feelings, { type: 'heard', text: hearing }));
  }

  note(event: SessionEvent): void {
    if (event.type === 'item-added') this.#noteItem(event.item);
    else if (event.type === 'transcript-final') this.#move({ type: 'heard', text: event.text });
    else if (event.type === 'reply-item' && event.item.emotion !== undefined)
      this.#move({ type: 'said', emotion: event.item.emotion });
    else if (event.type === 'reply-ended' && event.end.reason === 'turn_detected') this.#move({ type: 'interrupted' });
  }

  #noteItem(item: Item): void {
    if (item.type !== 'message' || item.role === 'system') return;
    if (item.role === 'user') this.#move({ type: 'heard', text: textOf(item) });
    else if (item.emotion !== undefined) this.#move({ type: 'said', emotion: item.emotion });
  }

  #move(event: FeltEvent): void {
    this.#rest();
    this.#feelings = feel(this.#feelings, event);
  }

  #rest(): void {
    const nowMs = this.#clock.now();
    this.#feelings = feel(this.#feelings, { type: 'time', ms: nowMs - this.#atMs });
    this.#atMs = nowMs;
  }
}
