import { describe, expect, it } from 'vitest';
import { openEndpoint, type SharedTurns } from '../../eval/limits.ts';
import { EngineError } from '../../voices/engine.ts';
import { ManualClock } from '../fakes/clock.ts';

const { signal } = new AbortController();
const freely = { signal, throwIfStopped: () => undefined };
const away = (retryAfterMs?: number): EngineError =>
  new EngineError('judge', 'ENGINE_UNAVAILABLE', 'away', undefined, { retryAfterMs });

describe('endpoint', () => {
  it('the endpoint limits concurrent calls and calls per minute', async () => {
    const clock = new ManualClock();
    const endpoint = openEndpoint(
      'judge',
      { concurrency: 3, requestsPerMinute: 60, retries: 0 },
      { clock, random: () => 0 },
    );
    const startedMs: number[] = [];
    let most = 0;
    const calls = Array.from({ length: 6 }, () =>
      endpoint.call(async () => {
        startedMs.push(clock.now());
        most = Math.max(most, endpoint.running);
        await clock.sleep(2_500, signal);
      }, freely),
    );
    await clock.advance(20_000);
    await Promise.all(calls);
    expect(most).toBe(3);
    expect(startedMs).toHaveLength(6);
    for (const [index, atMs] of startedMs.entries())
      if (index > 0) expect(atMs - (startedMs[index - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('endpoints of several processes take turns, and keep to one rate limit together', async () => {
    const clock = new ManualClock();
    let nextMs = 0;
    const rested: number[] = [];
    const turns: SharedTurns = {
      async reserve(_endpoint, gapMs) {
        const startMs = Math.max(clock.now(), nextMs);
        nextMs = startMs + gapMs;
        return startMs - clock.now();
      },
      rest: async (_endpoint, ms) => void rested.push(ms),
    };
    const limits = { concurrency: 20, requestsPerMinute: 60, retries: 1 };
    const parts = { clock, random: () => 0, turns };
    const endpoints = [1, 2, 3].map(() => openEndpoint('judge', limits, parts));
    const startedMs: number[] = [];
    const calls = endpoints.flatMap((endpoint) =>
      Array.from({ length: 20 }, () => endpoint.call(async () => void startedMs.push(clock.now()), freely)),
    );
    await clock.advance(61_000);
    await Promise.all(calls);
    // Sixty calls, and the next minute has begun before a sixty-first could.
    expect(startedMs).toHaveLength(60);
    expect(nextMs).toBeGreaterThan(60_000);
    const failing = endpoints[0]?.call(() => Promise.reject(away(5_000)), freely).catch(() => undefined);
    await clock.advance(20_000);
    await failing;
    expect(rested).toEqual([5_000]);
  });

  it('a shared pause that cannot be sent to the other workers applies to this endpoint alone, and does not end the process', async () => {
    const clock = new ManualClock();
    const turns: SharedTurns = {
      reserve: () => Promise.resolve(0),
      rest: () => Promise.reject(new Error('Connection is closed.')),
    };
    const unhandled: unknown[] = [];
    const note = (fault: unknown): void => void unhandled.push(fault);
    process.on('unhandledRejection', note);
    const endpoint = openEndpoint('judge', { concurrency: 1, retries: 1 }, { clock, random: () => 0, turns });
    let calls = 0;
    const answered = endpoint.call(() => {
      calls += 1;
      return calls === 1 ? Promise.reject(away(5_000)) : Promise.resolve('yes');
    }, freely);
    await clock.advance(20_000);
    expect(await answered).toBe('yes');
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('the endpoint retries transient errors with growing pauses, and pauses all calls as long as the server asks', async () => {
    const clock = new ManualClock();
    const endpoint = openEndpoint('judge', { concurrency: 2, retries: 3 }, { clock, random: () => 1 });
    const triedMs: number[] = [];
    const call = endpoint.call(async () => {
      triedMs.push(clock.now());
      if (triedMs.length === 1) throw away();
      if (triedMs.length === 2) throw away(30_000);
      return 'well';
    }, freely);
    await clock.advance(2_000);
    let other = 0;
    const second = endpoint.call(async () => void (other = clock.now()), freely);
    await clock.advance(40_000);
    expect(await call).toBe('well');
    await second;
    expect(triedMs).toEqual([0, 1_000, 31_000]);
    expect(other).toBe(31_000);
    expect(endpoint.retries).toBe(2);
  });

  it('the endpoint gives up after its retries, and at once if a retry is pointless', async () => {
    const clock = new ManualClock();
    const endpoint = openEndpoint('judge', { concurrency: 1, retries: 2 }, { clock, random: () => 1 });
    let tries = 0;
    const failing = endpoint.call(() => {
      tries += 1;
      return Promise.reject(away());
    }, freely);
    const told = failing.catch((fault: unknown) => fault);
    await clock.advance(10_000);
    expect(await told).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(tries).toBe(3);
    const refused = new EngineError('judge', 'ENGINE_REFUSED', 'no');
    await expect(endpoint.call(() => Promise.reject(refused), freely)).rejects.toBe(refused);
  });
});
