import type { SessionCommand, SessionEvent } from '../contract/events.ts';
import { soundToHear } from '../contract/item.ts';
import type { Listening } from './listening.ts';

/** Audio after which the mark is sent again if nothing else happens. */
const tellEveryMs = 1_000;

/** Events after which audio that was needed is not needed any more. */
const settling: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'transcript-final',
  'transcript-failed',
  'understood',
  'audio-cleared',
  'updated',
  'marked',
]);

/**
 * Marks the state of the client's numbered messages on the events that they cause: `taken`, processed and not to be
 * repeated; `kept`, not needed again, because nothing up to it holds audio whose outcome is unknown.
 */
export class MessageMarks {
  readonly #listening: Pick<Listening, 'heardMs' | 'neededFromMs' | 'waiting'>;
  /** Messages that have been processed and may be needed again, each with the audio time by then. */
  readonly #waiting: { readonly sequence: number; readonly endMs: number }[] = [];
  /** The message that is being processed, until an event has reported it. */
  #taken: number | undefined;
  #last = 0;
  #toldAtMs = 0;

  constructor(listening: Pick<Listening, 'heardMs' | 'neededFromMs' | 'waiting'>) {
    this.#listening = listening;
  }

  /** Notes a command that is about to be obeyed. */
  begin(command: SessionCommand): void {
    this.#note(command.sequence);
    this.#taken = this.#isDoneAtOnce(command) ? command.sequence : undefined;
  }

  /** Notes that the audio up to this message has been heard. */
  heard(upTo: number | undefined): void {
    this.#note(upTo);
  }

  /** Returns true if the marks must be sent now, although no event carries them. */
  get isDue(): boolean {
    if (this.#taken !== undefined) return true;
    const [first] = this.#waiting;
    if (first === undefined) return false;
    const { neededFromMs } = this.#listening;
    return first.endMs <= neededFromMs && neededFromMs - this.#toldAtMs >= tellEveryMs;
  }

  /** Returns an event with the marks that it brings. */
  marked(event: SessionEvent): SessionEvent {
    const taken = this.#taken;
    this.#taken = undefined;
    const kept = settling.has(event.type) ? this.#keep() : undefined;
    if (taken === undefined && kept === undefined) return event;
    return { ...event, ...(taken === undefined ? {} : { taken }), ...(kept === undefined ? {} : { kept }) };
  }

  #note(sequence = 0): void {
    if (sequence <= this.#last) return;
    this.#last = sequence;
    this.#waiting.push({ sequence, endMs: this.#listening.heardMs });
  }

  /** Returns the last message with audio before what is needed only; undefined if it was sent before. */
  #keep(): number | undefined {
    const { neededFromMs } = this.#listening;
    const after = this.#waiting.findIndex(({ endMs }) => endMs > neededFromMs);
    const kept = this.#waiting.splice(0, after < 0 ? this.#waiting.length : after).at(-1)?.sequence;
    if (kept !== undefined) this.#toldAtMs = neededFromMs;
    return kept;
  }

  #isDoneAtOnce(command: SessionCommand): boolean {
    switch (command.type) {
      // It takes the audio before it, or may be repeated.
      case 'audio':
      case 'audio-commit':
      case 'audio-clear':
      case 'heard':
      case 'item-retrieve':
      case 'reject':
        return false;
      case 'reply':
        return !this.#listening.waiting;
      case 'item-add':
        return soundToHear(command.item) === undefined;
      default:
        return true;
    }
  }
}
