import type { EvalClock } from './clock.ts';

/** Ends a run that has used up its budget; `eval resume` continues it with a larger one. */
export class BudgetReached extends Error {
  override readonly name = 'BudgetReached';
}

/** Cost and time limits of a run. */
export interface Budget {
  /** US dollars, including those of earlier parts of the run. */
  readonly spentDollars: number;
  spend(dollars: number): void;
  /** Throws `BudgetReached`. */
  check(): void;
}

/** Opens a budget. `maxMinutes` counts from now, `maxDollars` from the start of the run. */
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
