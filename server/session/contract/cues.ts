import type { Cue } from '../../../agents/output/performance.ts';
import type { TimedWord } from '../../../voices/synthesizer.ts';

/** A cue, and when it takes place in the sound of its item; 0 in what is written. */
export interface PlacedCue extends Cue {
  readonly startMs: number;
}

/** A cue that takes place once so much has been said; see `lettersIn`. */
export interface WrittenCue extends Cue {
  readonly afterLetters: number;
}

/** Letters and digits of a text: what stays of it however its marks and its white space are put in order for a voice. */
export function lettersIn(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** Cues of a reply that wait for the words they stand behind. */
export class WaitingCues {
  #waiting: WrittenCue[] = [];
  #letters = 0;

  add(cue: WrittenCue): void {
    this.#waiting.push(cue);
  }

  /** Those that take place as these words are said, in order, each with the word that begins then. */
  saying(words: readonly TimedWord[]): PlacedCue[] {
    const due: PlacedCue[] = [];
    for (const { text, startMs } of words) {
      if (lettersIn(text) > 0) due.push(...this.#take(startMs));
      this.#letters += lettersIn(text);
    }
    return due;
  }

  /** Those that take place before a text that is written. */
  writing(text: string): PlacedCue[] {
    const due = this.#take(0);
    this.#letters += lettersIn(text);
    return due;
  }

  /** All that are left: everything has been said, and it took `endMs`. */
  rest(endMs: number): PlacedCue[] {
    this.#letters = Infinity;
    return this.#take(endMs);
  }

  /** Another mind goes on: what the first one meant to do is not done. */
  drop(): void {
    this.#waiting = [];
  }

  #take(startMs: number): PlacedCue[] {
    const count = this.#waiting.findIndex(({ afterLetters }) => afterLetters > this.#letters);
    const due = this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
    return due.map(({ kind, text }) => ({ kind, text, startMs }));
  }
}
