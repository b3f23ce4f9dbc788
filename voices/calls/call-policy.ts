import { z } from 'zod';

const milliseconds = z.number().int().min(1).max(3_600_000);

/** Timeouts of a call's stages, in milliseconds; time that the consumer needs counts towards `wholeMs` only. */
const timeoutsSchema = z.strictObject({
  /** Wait for a place while all are taken. */
  queueMs: milliseconds.optional(),
  /** Until the server accepts the connection. */
  connectMs: milliseconds.optional(),
  /** From the end of the request to the first byte of the response body. */
  firstByteMs: milliseconds.optional(),
  betweenBytesMs: milliseconds.optional(),
  /** The whole call, without the wait for a place. */
  wholeMs: milliseconds.optional(),
});

/** Call policy of an engine; every engine in the engines file may set it. */
export const callPolicySchema = z.strictObject({
  timeouts: timeoutsSchema.optional(),
  /** Maximum concurrent calls; more wait in a fair queue. */
  concurrency: z.number().int().min(1).max(1_024).optional(),
  /** Maximum retries of a call that failed before it delivered anything. */
  retries: z.number().int().min(0).max(5).optional(),
  /** Consecutive failures after which the circuit breaker opens for `restMs`; then one trial call goes through. */
  failureCount: z.number().int().min(1).max(100).optional(),
  restMs: milliseconds.optional(),
  /** Time an aborted call keeps its place, for servers that go on working after the connection was closed. */
  graceMs: z.number().int().min(0).max(120_000).optional(),
});

/** See `careSchema`; missing values come from the adapter, then from `usualCare`. */
export type CallPolicy = z.infer<typeof callPolicySchema>;

/** Timeouts with every value set. */
export type Timeouts = { readonly [Stage in keyof z.infer<typeof timeoutsSchema>]-?: number };

/** Call policy with every value set. */
export interface ResolvedCallPolicy {
  readonly timeouts: Timeouts;
  readonly concurrency: number;
  readonly retries: number;
  readonly failureCount: number;
  readonly restMs: number;
  readonly graceMs: number;
}

const defaultCallPolicy: ResolvedCallPolicy = {
  timeouts: { queueMs: 10_000, connectMs: 5_000, firstByteMs: 20_000, betweenBytesMs: 15_000, wholeMs: 180_000 },
  concurrency: 8,
  retries: 1,
  failureCount: 2,
  restMs: 30_000,
  graceMs: 0,
};

/** Merges call policies; the first that sets a value wins: the user's, then the adapter's, then the defaults. */
export function resolveCallPolicy(...wishes: readonly (CallPolicy | undefined)[]): ResolvedCallPolicy {
  const merged: Record<string, unknown> = { ...defaultCallPolicy };
  const timeouts: Record<string, number> = { ...defaultCallPolicy.timeouts };
  for (const wish of wishes.toReversed()) {
    for (const [name, value] of Object.entries(wish ?? {})) if (value !== undefined) merged[name] = value;
    for (const [stage, value] of Object.entries(wish?.timeouts ?? {})) if (value !== undefined) timeouts[stage] = value;
  }
  return { ...merged, timeouts } as unknown as ResolvedCallPolicy;
}
