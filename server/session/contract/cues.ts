import type { Cue } from '../../../agents/output/performance.ts';
import type { TimedWord } from '../../../voices/synthesizer.ts';

/** A stage direction, and when it takes place in the audio of its item; 0 in written text. */
export interface PlacedCue extends Cue {
  readonly startMs: number;
}

/** A stage direction that takes place after this many letters of the reply; see `lettersIn`. */
export interface WrittenCue extends Cue {
  readonly afterLetters: number;
}

/** Counts letters and digits of a text, which stay the same however it is changed for speech. */
export function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** Stage directions of a reply that wait for the words they follow. */
export class WaitingCues {
  #waiting: WrittenCue[] = [];
  #letters = 0;

  add(cue: WrittenCue): void {
    this.#waiting.push(cue);
  }

  /** Returns those that take place as these words are said, in order, each at the start of the next word. */
  saying(words: readonly TimedWord[]): PlacedCue[] {
    const due: PlacedCue[] = [];
    for (const { text, startMs } of words) {
      if (lettersIn(text) > 0) due.push(...this.#take(startMs));
      this.#letters += lettersIn(text);
    }
    return due;
  }

  /** Returns those that take place before a written text. */
  writing(text: string): PlacedCue[] {
    const due = this.#take(0);
    this.#letters += lettersIn(text);
    return due;
  }

  /** Returns all that are left, at `endMs`: everything has been said. */
  rest(endMs: number): PlacedCue[] {
    this.#letters = Infinity;
    return this.#take(endMs);
  }

  /** Drops them: another reply source takes over, and the actions of the first are not carried out. */
  drop(): void {
    this.#waiting = [];
  }

  #take(startMs: number): PlacedCue[] {
    const count = this.#waiting.findIndex(({ afterLetters }) => afterLetters > this.#letters);
    const due = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    return due.map(({ kind, text }) => ({ kind, text, startMs }));
  }
}
