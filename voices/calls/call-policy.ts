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

/** Call policy as a user or an adapter gives it; `openContext` fills in what is missing. */
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
