import { feel, rounded, type FeltEvent } from '../../../agents/scene/feel.ts';
import { calmFeelings, type Feelings } from '../../../agents/feelings.ts';
import { isBrokenOff, nameIn } from '../../../agents/scene/next-speaker.ts';
import type { Clock } from '../contract/clock.ts';
import { textOf, type Item, type MessageItem, type Speaker } from './conversation.ts';
import type { SessionEvent } from '../contract/events.ts';

/** Who speaks where only one does. */
const alone: Speaker = { id: '', name: '' };

/**
 * How those who speak in a session feel by now, each for itself; moved by what the client is told of the talk. In a scene words
 * move whom they name; where they name nobody, who spoke before; else everybody.
 */
export class Moods {
  readonly #clock: Clock;
  readonly #cast: readonly Speaker[];
  readonly #feelings: Map<string, Feelings>;
  #lastId: string | undefined;
  #atMs: number;

  /** `cast`: of a scene; `items`: what was said before, in a conversation that goes on. */
  constructor(clock: Clock, cast: readonly Speaker[] = [], items: readonly Item[] = []) {
    this.#clock = clock;
    this.#cast = cast.length === 0 ? [alone] : cast;
    this.#feelings = new Map(this.#cast.map(({ id }) => [id, calmFeelings]));
    this.#atMs = clock.now();
    for (const item of items) {
      this.#begin(item);
      if (item.type === 'message' && item.role === 'assistant') this.#end(item, false);
    }
  }

  /** In whole numbers; `hearing`: as if this had just been heard too. Whoever is unknown is calm. */
  now(who = alone.id, hearing?: string): Feelings {
    this.#rest();
    const feelings = this.#feelings.get(who) ?? calmFeelings;
    return rounded(hearing === undefined ? feelings : feel(feelings, { type: 'heard', text: hearing }));
  }

  /** Of everybody in a scene; undefined where only one speaks. */
  get ofCast(): Readonly<Record<string, Feelings>> | undefined {
    if (this.#cast[0] === alone) return undefined;
    return Object.fromEntries(this.#cast.map(({ id }) => [id, this.now(id)]));
  }

  note(event: SessionEvent): void {
    if (event.type === 'item-added' || event.type === 'reply-item') this.#begin(event.item);
    else if (event.type === 'transcript-final') this.#hear(event.text);
    else if (event.type === 'reply-item-ended') this.#end(event.item, event.cut);
    else if (event.type === 'reply-ended' && event.end.reason === 'turn_detected')
      this.#move(event.item?.speaker?.id ?? alone.id, { type: 'interrupted' });
  }

  #begin(item: Item): void {
    if (item.type !== 'message' || item.role === 'system') return;
    if (item.role === 'user') this.#hear(textOf(item));
    else if (item.emotion !== undefined)
      this.#move(item.speaker?.id ?? alone.id, { type: 'said', emotion: item.emotion });
  }

  /** What one of a scene has said is heard by the others. */
  #end(item: MessageItem, cut: boolean): void {
    if (item.speaker === undefined) return;
    const text = textOf(item);
    if (!cut && isBrokenOff(text)) this.#move(item.speaker.id, { type: 'interrupted' });
    this.#hear(text, item.speaker.id);
    this.#lastId = item.speaker.id;
  }

  #hear(text: string, fromId?: string): void {
    const others = this.#cast.filter(({ id }) => id !== fromId);
    const named = nameIn(text, others) ?? others.find(({ id }) => id === this.#lastId);
    for (const { id } of named === undefined ? others : [named]) this.#move(id, { type: 'heard', text });
  }

  #move(who: string, event: FeltEvent): void {
    this.#rest();
    const feelings = this.#feelings.get(who);
    if (feelings !== undefined) this.#feelings.set(who, feel(feelings, event));
  }

  #rest(): void {
    const nowMs = this.#clock.now();
    for (const [id, feelings] of this.#feelings)
      this.#feelings.set(id, feel(feelings, { type: 'time', ms: nowMs - this.#atMs }));
    this.#atMs = nowMs;
  }
}
