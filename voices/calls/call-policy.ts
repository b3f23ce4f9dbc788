import { z } from 'zod';

const milliseconds = z.number().int().min(1).max(3_600_000);

/**
 * How long each stage of a call may take, in milliseconds. Time in which nobody reads what came does not count, except for
 * `wholeMs`.
 */
const timeoutsSchema = z.strictObject({
  /** For a place, where all are taken. */
  queueMs: milliseconds.optional(),
  /** Until the server accepts the connection. */
  connectMs: milliseconds.optional(),
  /** From the end of the request to the first byte of the answer's body. */
  firstByteMs: milliseconds.optional(),
  betweenBytesMs: milliseconds.optional(),
  /** All of it, the wait for a place left out. */
  wholeMs: milliseconds.optional(),
});

/** How an engine is called; every engine in the engines file may set it. */
export const careSchema = z.strictObject({
  timeouts: timeoutsSchema.optional(),
  /** Calls at a time; more wait in a fair queue. */
  concurrency: z.number().int().min(1).max(1_024).optional(),
  /** Further tries of a call that failed before it delivered anything. */
  retries: z.number().int().min(0).max(5).optional(),
  /** Failures in a row after which the engine is left alone for `restMs`; then one call tries it. */
  failureCount: z.number().int().min(1).max(100).optional(),
  restMs: milliseconds.optional(),
  /** How long an aborted call keeps its place: for servers that go on working after the connection was closed. */
  graceMs: z.number().int().min(0).max(120_000).optional(),
});

/** See `careSchema`; what is absent comes from the adapter, then from `usualCare`. */
export type Care = z.infer<typeof careSchema>;

/** Every wait, decided. */
export type Timeouts = { readonly [Stage in keyof z.infer<typeof timeoutsSchema>]-?: number };

/** Everything decided. */
export interface FullCare {
  readonly timeouts: Timeouts;
  readonly concurrency: number;
  readonly retries: number;
  readonly failureCount: number;
  readonly restMs: number;
  readonly graceMs: number;
}

const usualCare: FullCare = {
  timeouts: { queueMs: 10_000, connectMs: 5_000, firstByteMs: 20_000, betweenBytesMs: 15_000, wholeMs: 180_000 },
  concurrency: 8,
  retries: 1,
  failureCount: 2,
  restMs: 30_000,
  graceMs: 0,
};

/** The first that says something counts: what the user wants before what the adapter knows before what is usual. */
export function fullCare(...wishes: readonly (Care | undefined)[]): FullCare {
  const merged: Record<string, unknown> = { ...usualCare };
  const timeouts: Record<string, number> = { ...usualCare.timeouts };
  for (const wish of wishes.toReversed()) {
    for (const [name, value] of Object.entries(wish ?? {})) if (value !== undefined) merged[name] = value;
    for (const [stage, value] of Object.entries(wish?.timeouts ?? {})) if (value !== undefined) timeouts[stage] = value;
  }
  return { ...merged, timeouts } as unknown as FullCare;
}
