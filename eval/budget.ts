import type { EvalClock } from './clock.ts';

/** A run ends here because it has used up what it was given; `eval resume` goes on with more. */
export class BudgetReached extends Error {
  override readonly name = 'BudgetReached';
}

/** What a run may cost. */
export interface Budget {
  /** US dollars, those of the run's earlier parts included. */
  readonly spentDollars: number;
  spend(dollars: number): void;
  /** Throws `BudgetReached`. */
  check(): void;
}

/** `maxMinutes` counts from now, `maxDollars` from the beginning of the run. */
export function openBudget(
  limits: { readonly maxDollars?: number | undefined; readonly maxMinutes?: number | undefined },
  { clock, spentDollars }: { readonly clock: EvalClock; readonly spentDollars: number },
): Budget {
  const startMs = clock.now();
  let spent = spentDollars;
  return {
    get spentDollars() {
      return spent;
    },
    spend(dollars) {
      spent += dollars;
    },
    check() {
      const { maxDollars, maxMinutes } = limits;
      if (maxDollars !== undefined && spent >= maxDollars)
        throw new BudgetReached(`--max-cost ${maxDollars} is used up`);
      if (maxMinutes !== undefined && clock.now() - startMs >= maxMinutes * 60_000)
        throw new BudgetReached(`--max-minutes ${maxMinutes} are over`);
    },
  };
}
