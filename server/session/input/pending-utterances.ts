import type { Utterance } from './utterance.ts';

/** How far back a sound over the reply is kept while it is not known whether it was words: a slow recognizer's wait. */
const longestVerdictMs = 10_000;

/** Where sound stands: how much has been heard, and when the last of it came, by the wall clock. */
export interface Mark {
  readonly heardMs: number;
  readonly arrivedMs: number;
}

/** Utterances whose transcript is not known yet. */
export class Unsettled {
  readonly #begun = new Map<Utterance, Mark>();

  add(utterance: Utterance, mark: Mark): void {
    this.#begun.set(utterance, mark);
  }

  delete(utterance: Utterance): void {
    this.#begun.delete(utterance);
  }

  /** True while one waits that is an item of the conversation. */
  get waiting(): boolean {
    return [...this.#begun.keys()].some((utterance) => utterance.item !== undefined);
  }

  /** Where the first sound over a reply begins of which nobody knows yet what it is. */
  get unjudgedFromMs(): number {
    return Math.min(...this.#unjudged().map(([utterance]) => utterance.startMs ?? Infinity));
  }

  /** From where on sound may still be needed, when it is needed from `fromMs` on for what is said next. */
  keptFromMs(fromMs: number, now: Mark): number {
    const [first] = this.#unjudged();
    if (first === undefined) return fromMs;
    const [, begun] = first;
    // Sound that came faster than it was spoken did not take its time: the recognizer waits by the wall clock.
    const aheadMs = now.heardMs - begun.heardMs - (now.arrivedMs - begun.arrivedMs);
    const oldestMs = now.heardMs - longestVerdictMs - Math.max(0, aheadMs);
    return Math.min(fromMs, Math.max(oldestMs, this.unjudgedFromMs));
  }

  /** Forgets the sounds that are part of this one. */
  dropPartsOf(whole: Utterance): void {
    for (const [utterance] of this.#unjudged()) if (utterance !== whole) this.drop(utterance);
  }

  drop(utterance: Utterance | undefined): void {
    if (utterance === undefined) return;
    this.#begun.delete(utterance);
    utterance.drop();
  }

  /** Nothing is listened to any more. */
  close(): void {
    for (const utterance of this.#begun.keys()) utterance.drop();
  }

  #unjudged(): [Utterance, Mark][] {
    return [...this.#begun].filter(([{ tentative }]) => tentative);
  }
}
