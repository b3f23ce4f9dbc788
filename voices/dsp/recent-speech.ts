import { floatsFromInt16 } from '../audio.ts';
import type { TimedWord } from '../synthesizer.ts';

/** Longest stretch that may be said again; longer clauses are resumed at a word. */
const longestClauseMs = 4_000;
/** Audio kept: a clause, and what may be on its way to the listener at the hold. */
const keptMs = longestClauseMs + 2_000;

/** Audio kept after the end of a reply: what a client may still have to play, and its echo. */
const lateMs = 1_500;

const endsClause = /[,;:.!?…—，、；：。！？]["'”’»)\]]*\s*$/u;

/** The last seconds of a reply as sent, to resume it from the start of a clause. Times count what was sent. */
export class RecentSpeech {
  #slices: { readonly atMs: number; readonly block: Int16Array }[] = [];
  #sampleRate = 24_000;
  #sentMs = 0;
  /** Start times of words; `clause` if the word begins a clause. */
  #starts: { readonly atMs: number; readonly clause: boolean }[] = [];
  #clauseBegins = true;

  get sampleRate(): number {
    return this.#sampleRate;
  }

  /** Announces speech, perhaps at another rate. */
  begin(sampleRate: number): void {
    // Audio of another rate cannot be mixed with this.
    if (sampleRate !== this.#sampleRate) this.#slices = [];
    this.#sampleRate = sampleRate;
  }

  push(block: Int16Array): void {
    this.#slices.push({ atMs: this.#sentMs, block });
    this.#sentMs += this.lengthOf([block]);
    while ((this.#slices[0]?.atMs ?? Infinity) < this.#sentMs - keptMs) this.#slices.shift();
    while ((this.#starts[0]?.atMs ?? Infinity) < this.#sentMs - keptMs) this.#starts.shift();
  }

  note(word: TimedWord): void {
    this.#starts.push({ atMs: word.startMs, clause: this.#clauseBegins });
    this.#clauseBegins = endsClause.test(word.text);
  }

  /** Returns what was sent from the start of the clause at `atMs` on, in slices, as far as it is kept. */
  clauseBefore(atMs: number): Float32Array[] {
    const before = this.#starts.filter((start) => start.atMs <= atMs);
    const clause = before.findLast((start) => start.clause && atMs - start.atMs <= longestClauseMs);
    // Before its first word there is nothing to resume: only what follows is sent again.
    const fromMs = (clause ?? before.at(-1))?.atMs ?? atMs;
    return this.#slices.flatMap((slice) => {
      const first = Math.max(0, this.#samplesIn(fromMs - slice.atMs));
      return first < slice.block.length ? [floatsFromInt16(slice.block.subarray(first))] : [];
    });
  }

  /** Returns `ms` of audio from `fromMs` on, in `into` if it fits; undefined if it is not kept, or not sent yet. */
  soundAt(
    fromMs: number,
    ms: number,
    into?: Float32Array,
  ): { readonly samples: Float32Array; readonly sampleRate: number } | undefined {
    if (fromMs < (this.#slices[0]?.atMs ?? Infinity) || fromMs + ms > this.#sentMs) return undefined;
    const sampleRate = this.#sampleRate;
    const length = this.#samplesIn(ms);
    const samples = into === undefined || into.length < length ? new Float32Array(length) : into.subarray(0, length);
    samples.fill(0);
    for (const { atMs, block } of this.#slices) {
      const offset = this.#samplesIn(fromMs - atMs);
      if (offset >= block.length || offset + samples.length <= 0) continue;
      for (let index = Math.max(0, -offset); index < samples.length && index + offset < block.length; index += 1) {
        samples[index] = (block[index + offset] as number) / 32_768;
      }
    }
    return { samples, sampleRate };
  }

  /** Drops all but what may still be heard, or come back as an echo. */
  fade(): void {
    while ((this.#slices[0]?.atMs ?? Infinity) < this.#sentMs - lateMs) this.#slices.shift();
    this.#starts = [];
  }

  forget(): void {
    this.#slices = [];
    this.#starts = [];
  }

  /** Returns the duration of these slices in milliseconds. */
  lengthOf(slices: readonly { readonly length: number }[]): number {
    return (slices.reduce((sum, { length }) => sum + length, 0) / this.#sampleRate) * 1000;
  }

  #samplesIn(ms: number): number {
    return Math.round((ms / 1000) * this.#sampleRate);
  }
}
