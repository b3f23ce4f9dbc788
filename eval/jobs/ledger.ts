import type { RunFacts } from './run-facts.ts';

/** Workers learn for this long that a run is whole. */
export const endedStayMs = 600_000;
/** A worker's reason for refusing a run is kept for this long. */
export const refusalStayMs = 60_000;

/** State that a coordinator and its workers share besides the queues: runs, costs, start times of calls, refusals. */
export interface RunLedger {
  /** Tells workers of a run until `facts.leaseMs` from now. */
  announce(facts: RunFacts): Promise<void>;
  /** Extends the announcement. False if it is gone. */
  renew(facts: Pick<RunFacts, 'id' | 'leaseMs'>): Promise<boolean>;
  /** Ends the announcement; with `isWhole`, says so for a while. */
  withdraw(id: string, options: { readonly isWhole: boolean }): Promise<void>;
  hasEnded(id: string): Promise<boolean>;
  /** Runs that are announced. */
  runs(): Promise<readonly RunFacts[]>;
  /** Adds to what the run has cost; resolves to the sum, in US dollars. */
  spend(run: string, dollars: number): Promise<number>;
  /** Has the run cost at least this much, in US dollars. */
  raiseSpent(run: string, dollars: number): Promise<void>;
  /** Reserves the next start of a call, `gapMs` after the one before; resolves to the milliseconds until then. */
  reserve(run: string, endpoint: string, gapMs: number): Promise<number>;
  /** Lets the next start be `ms` from now at the earliest. */
  rest(run: string, endpoint: string, ms: number): Promise<void>;
  /** Records why a worker does not work on a run. */
  refuse(run: string, reason: string): Promise<void>;
  /** Takes the oldest refusal that has not been read. */
  nextRefusal(run: string): Promise<string | null>;
  /** Removes costs, start times and refusals of a run. */
  clear(run: string): Promise<void>;
}
