import { describe, expect, it } from 'vitest';
import { openCalls, type CallCost, type Calls } from '../../../voices/calls/calls.ts';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { resolveCallPolicy } from '../../../voices/calls/context.ts';
import { Preempted } from '../../../voices/calls/limiter.ts';
import { EngineError } from '../../../voices/engine.ts';

const { signal } = new AbortController();
const reason = new Error('the user spoke');
const lost = (retryAfterMs = 0): EngineError =>
  new EngineError('test', 'ENGINE_UNAVAILABLE', 'lost', undefined, { retryAfterMs });

function opened(care: CallPolicy = {}): { calls: Calls; costs: CallCost[] } {
  const costs: CallCost[] = [];
  return { calls: openCalls('test', resolveCallPolicy(care), { log: (cost) => costs.push(cost) }), costs };
}

/** Yields its parts in order; an error among them is thrown. */
async function* gives(...parts: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

describe('engine call', () => {
  it('an engine call passes on its parts and reports its cost', async () => {
    const { calls, costs } = opened();
    const parts = calls.stream(
      ({ meter }) => {
        meter.characters = 7;
        return gives('a', 'b');
      },
      { signal },
    );
    expect(await Array.fromAsync(parts)).toEqual(['a', 'b']);
    expect(costs).toMatchObject([{ engine: 'test', outcome: 'ok', tries: 1, characters: 7 }]);
    expect(costs[0]?.firstMs).toBeLessThanOrEqual(costs[0]?.ms ?? 0);
  });

  it('an engine call is retried while nothing was delivered', async () => {
    const { calls, costs } = opened({ retries: 2 });
    const tries = [gives(lost()), gives(lost()), gives('a')];
    expect(await Array.fromAsync(calls.stream(() => tries.shift() ?? gives(), { signal }))).toEqual(['a']);
    expect(costs).toMatchObject([{ outcome: 'ok', tries: 3 }]);
  });

  it.each([
    ['something was delivered', 2, [gives('a', lost()), gives('b')], ['a']],
    ['it was tried often enough', 1, [gives(lost()), gives(lost()), gives('b')], []],
    ['the engine wants to be left alone', 2, [gives(lost(60_000)), gives('b')], []],
    ['the engine said no', 2, [gives(new EngineError('test', 'ENGINE_REFUSED', 'no')), gives('b')], []],
  ])('an engine call is not retried when %s', async (_name, retries, tries, delivered) => {
    const { calls } = opened({ retries });
    const got: string[] = [];
    const reading = (async () => {
      for await (const part of calls.stream(() => tries.shift() ?? gives(), { signal })) got.push(part);
    })();
    await expect(reading).rejects.toBeInstanceOf(EngineError);
    expect(got).toEqual(delivered);
  });

  it('an engine call waits for a free place, up to a limit', async () => {
    const { calls, costs } = opened({ concurrency: 1, timeouts: { queueMs: 20 } });
    const first = calls.stream(() => gives('a', 'b'), { signal });
    await first.next();
    expect(calls.isFull).toBe(true);
    await expect(Array.fromAsync(calls.stream(() => gives('c'), { signal }))).rejects.toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
    });
    await first.return(undefined);
    expect(calls.isFull).toBe(false);
    expect(costs.map(({ outcome }) => outcome)).toEqual(['ENGINE_UNAVAILABLE', 'aborted']);
  });

  it('an engine call ends at its total timeout even while parts arrive', async () => {
    const { calls } = opened({ timeouts: { wholeMs: 30 } });
    let given: AbortSignal | undefined;
    async function* endless(): AsyncGenerator<string> {
      for (;;) {
        yield 'a';
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const reading = Array.fromAsync(
      calls.stream(
        (options) => {
          given = options.signal;
          return endless();
        },
        { signal },
      ),
    );
    await expect(reading).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT' });
    expect(given?.aborted).toBe(true);
  });

  it('an aborted engine call throws the reason, aborts its request and does not count as an engine failure', async () => {
    const { calls, costs } = opened({ failureCount: 1 });
    const controller = new AbortController();
    let given: AbortSignal | undefined;
    const hangs = calls.once(
      (options) => {
        given = options.signal;
        return new Promise(() => undefined);
      },
      { signal: controller.signal },
    );
    await expect.poll(() => given).toBeDefined();
    controller.abort(reason);
    await expect(hangs).rejects.toBe(reason);
    expect(given?.aborted).toBe(true);
    expect(costs).toMatchObject([{ outcome: 'aborted' }]);
    expect(calls.health()).toMatchObject({ state: 'ok', running: 0, calls: 1, failures: 0 });
  });

  it('an aborted engine call keeps its place for a while if the server continues working', async () => {
    const { calls } = opened({ concurrency: 1, graceMs: 20 });
    const controller = new AbortController();
    const first = calls.stream(() => gives('a', 'b'), { signal: controller.signal });
    await first.next();
    controller.abort(reason);
    await expect(first.next()).rejects.toBe(reason);
    expect(calls.isFull).toBe(true);
    expect(await calls.once(async () => 'b', { signal })).toBe('b');
  });

  it('an engine call is refused while the circuit breaker is open, and health says so', async () => {
    const { calls } = opened({ failureCount: 2, retries: 0 });
    const fails = (): Promise<unknown> => calls.once(() => Promise.reject(lost()), { signal });
    await expect(fails()).rejects.toThrow('lost');
    expect(calls.health().state).toBe('failing');
    await expect(fails()).rejects.toThrow('lost');
    await expect(calls.once(async () => 'a', { signal })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(calls.health()).toMatchObject({
      state: 'circuit_open',
      calls: 2,
      failures: 2,
      lastFailure: 'ENGINE_UNAVAILABLE',
    });
  });
});

describe('call policy', () => {
  it('the call policy is the user’s, then the adapter’s, then the default', () => {
    const care = resolveCallPolicy(
      { timeouts: { firstByteMs: 1 }, retries: undefined },
      { timeouts: { firstByteMs: 2, connectMs: 3 }, retries: 4 },
    );
    expect(care).toMatchObject({ retries: 4, timeouts: { firstByteMs: 1, connectMs: 3, betweenBytesMs: 15_000 } });
  });

  it('a background call waits until there are no other calls, and is cut off when there is one', async () => {
    const { calls, costs } = opened({ concurrency: 2, timeouts: { queueMs: 1 } });
    const talk = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = calls.once(() => talk.promise, { signal });
    const background = calls.once(
      () => {
        begun.resolve();
        return new Promise(() => undefined);
      },
      { signal, background: true },
    );
    const cut = background.catch((fault: unknown) => fault);
    talk.resolve();
    await first;
    await begun.promise;
    expect(await calls.once(async () => 'a turn', { signal })).toBe('a turn');
    expect(await cut).toBeInstanceOf(Preempted);
    // A call that gives way has not failed.
    expect(calls.health()).toMatchObject({ state: 'ok', failures: 0 });
    expect(costs.map(({ outcome }) => outcome).toSorted()).toEqual(['aborted', 'ok', 'ok']);
  });
});
