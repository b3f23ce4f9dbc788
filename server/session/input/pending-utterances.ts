import type { Utterance } from './utterance.ts';

/** Longest time for which a sound over the reply is kept while it is unclassified: the latency of a slow recognizer. */
const longestVerdictMs = 10_000;

/** A point in the audio: how much has been processed, and when the last of it arrived, by the wall clock. */
export interface Mark {
  readonly heardMs: number;
  readonly arrivedMs: number;
}

/** Utterances without a final transcript. */
export class PendingUtterances {
  readonly #begun = new Map<Utterance, Mark>();

  add(utterance: Utterance, mark: Mark): void {
    this.#begun.set(utterance, mark);
  }

  delete(utterance: Utterance): void {
    this.#begun.delete(utterance);
  }

  /** True while one of them is an item of the conversation. */
  get waiting(): boolean {
    return [...this.#begun.keys()].some((utterance) => utterance.item !== undefined);
  }

  /** Start of the oldest unclassified overlap. */
  get unjudgedFromMs(): number {
    return Math.min(...this.#unjudged().map(([utterance]) => utterance.startMs ?? Infinity));
  }

  /** Returns the audio time from which pre-roll must be kept if the next utterance needs it from `fromMs` on. */
  keptFromMs(fromMs: number, now: Mark): number {
    const [first] = this.#unjudged();
    if (first === undefined) return fromMs;
    const [, begun] = first;
    // Audio that came faster than real time did not take its length: the recognizer's latency is wall time.
    const aheadMs = now.heardMs - begun.heardMs - (now.arrivedMs - begun.arrivedMs);
    const oldestMs = now.heardMs - longestVerdictMs - Math.max(0, aheadMs);
    return Math.min(fromMs, Math.max(oldestMs, this.unjudgedFromMs));
  }

  /** Drops the overlaps that are part of this utterance. */
  dropPartsOf(whole: Utterance): void {
    for (const [utterance] of this.#unjudged()) if (utterance !== whole) this.drop(utterance);
  }

  drop(utterance: Utterance | undefined): void {
    if (utterance === undefined) return;
    this.#begun.delete(utterance);
    utterance.drop();
  }

  /** Drops all of them. */
  close(): void {
    for (const utterance of this.#begun.keys()) utterance.drop();
  }

  #unjudged(): [Utterance, Mark][] {
    return [...this.#begun].filter(([{ tentative }]) => tentative);
  }
}
