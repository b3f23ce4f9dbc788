import type { JournalEntry } from './journal.ts';

/** Counts of a stage, for the report. */
export interface StageReport {
  readonly stage: string;
  readonly in: number;
  readonly out: number;
  /** Records left out, or parts of them, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Other observations. */
  readonly counted: Readonly<Record<string, number>>;
  /** Answered calls, those of earlier parts of the build included, and the outcomes of the replies. */
  readonly calls: number;
  readonly replies: Readonly<Record<string, number>>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars. */
  readonly cost: number;
  readonly models: readonly string[];
  /** Records that await another run: their calls failed. */
  readonly failed: number;
  readonly failure?: string;
  /** True if every record of the stage failed. */
  readonly isHopeless: boolean;
}

/** Counts what a stage does. */
export class StageCounts {
  in = 0;
  out = 0;
  failure: string | undefined;
  readonly dropped: Record<string, number> = {};
  readonly counted: Record<string, number> = {};
  readonly replies: Record<string, number> = {};
  #calls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #failed = 0;
  /** Millionths of a cent, so that sums do not depend on the order. */
  #cost = 0;
  readonly #models = new Set<string>();

  add(where: Record<string, number>, what: string, count = 1): void {
    where[what] = (where[what] ?? 0) + count;
  }

  take({ inputTokens, outputTokens, cost, asked, answered }: JournalEntry): void {
    this.#calls += 1;
    this.#inputTokens += inputTokens;
    this.#outputTokens += outputTokens;
    this.#cost += Math.round(cost * 1e8);
    this.#models.add(answered ?? asked);
  }

  fail(message: string): void {
    this.#failed += 1;
    this.failure ??= message;
  }

  report(stage: string): StageReport {
    return {
      stage,
      in: this.in,
      out: this.out,
      dropped: sorted(this.dropped),
      counted: sorted(this.counted),
      calls: this.#calls,
      replies: sorted(this.replies),
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      cost: this.#cost / 1e8,
      models: [...this.#models].sort(),
      failed: this.#failed,
      ...(this.failure === undefined ? {} : { failure: this.failure }),
      isHopeless: this.#failed > 0 && this.out === 0 && this.#calls === 0,
    };
  }
}

function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1)));
}
