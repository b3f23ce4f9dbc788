import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostDeaths, type AskResult, type RunFacts } from '../../../eval/jobs/run-facts.ts';
import { JobStore } from '../../../eval/jobs/store.ts';
import { RunAsks } from '../../../eval/worker/run-asks.ts';
import { hasPostgres, hasRedis, startPostgres, startRedis, until } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';

if (!hasRedis) console.warn('skipped: the tests of jobs in Redis need redis-server (Debian package redis-server)');

interface Server {
  readonly url: string;
  kill(): Promise<void>;
}

async function postgres(): Promise<Server> {
  const server = await startPostgres();
  return { url: await server.createDatabase('jobs'), kill: () => server.stop() };
}

const stores = [
  ['Redis', hasRedis, async (): Promise<Server> => startRedis(await freePort())],
  ['PostgreSQL', hasPostgres, postgres],
] as const;

const options = { atOnce: 4, leaseMs: 200, onFault: () => undefined };
const placesOf = { solve: { atOnce: 4, isEach: true } };
const factsOf = (id: string): RunFacts => ({
  id,
  work: 'eval',
  version: '0',
  folder: '/nowhere',
  about: {},
  kinds: placesOf,
  leaseMs: 200,
  maxDollars: null,
});

describe.each(stores)('JobStore in %s', (_name, isThere, start) => {
  let server: Server;
  let store: JobStore;
  beforeAll(async () => {
    if (!isThere) return;
    server = await start();
    store = await JobStore.open(server.url, () => undefined);
  });
  afterAll(async () => {
    await store?.close();
    await server?.kill();
  });

  it.skipIf(!isThere)('adds a job once, however often it is added', async () => {
    const taken: string[] = [];
    for (let round = 0; round < 3; round += 1)
      await store.add({ run: 'once', kind: 'solve' }, [
        { id: 'ask-a', data: {} },
        { id: 'ask-b', data: {} },
      ]);
    const both = Promise.withResolvers<void>();
    const consumer = store.consume(
      'once',
      'solve',
      async ({ id }) => {
        taken.push(id);
        if (taken.length === 2) both.resolve();
        return 'done';
      },
      options,
    );
    await both.promise;
    await consumer.close();
    expect(taken.toSorted()).toEqual(['ask-a', 'ask-b']);
  });

  it.skipIf(!isThere)(
    'a consumer that was closed before it was ready left a connection, and its process never ended',
    async () => {
      const sockets = (): number => process.getActiveResourcesInfo().filter((one) => one.startsWith('TCP')).length;
      const own = await JobStore.open(server.url, () => undefined);
      const before = sockets();
      for (let round = 0; round < 5; round += 1) {
        const consumer = own.consume('left', 'solve', async () => 'done', options);
        for (let turn = 0; turn < round * 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        await consumer.close(true);
      }
      await until(() => sockets() <= before);
      await own.close();
      expect(sockets()).toBeLessThanOrEqual(before);
    },
  );

  it.skipIf(!isThere)('gives the job of a consumer that died to another one, and counts the deaths', async () => {
    await store.add({ run: 'deaths', kind: 'solve' }, [{ id: 'ask-a', data: {} }]);
    const seen: number[] = [];
    for (let death = 0; death < 2; death += 1) {
      const taken = Promise.withResolvers<void>();
      const forever = Promise.withResolvers<'done'>();
      const dying = store.consume(
        'deaths',
        'solve',
        ({ deaths }) => {
          seen.push(deaths);
          taken.resolve();
          return forever.promise;
        },
        options,
      );
      await taken.promise;
      await dying.close(true);
    }
    const done = Promise.withResolvers<void>();
    const consumer = store.consume(
      'deaths',
      'solve',
      async ({ deaths }) => {
        seen.push(deaths);
        done.resolve();
        return 'done';
      },
      options,
    );
    await done.promise;
    await consumer.close();
    expect(seen).toEqual([0, 1, 2]);
  });

  it.skipIf(!isThere)('gives starts of calls in turn to all who ask, and none while the endpoint rests', async () => {
    const waits = await Promise.all(Array.from({ length: 60 }, () => store.reserve('turns', 'judge', 1_000)));
    const starts = waits.toSorted((a, b) => a - b);
    const last = starts.at(-1) ?? 0;
    expect(last).toBeGreaterThan(58_000 - 1_000);
    for (const [index, start] of starts.entries()) expect(start).toBeGreaterThan(index * 1_000 - 1_000);
    await store.rest('turns', 'judge', 600_000);
    expect(await store.reserve('turns', 'judge', 1_000)).toBeGreaterThan(590_000);
  });

  it.skipIf(!isThere)('announces runs, and sums their costs, until they are withdrawn', async () => {
    const facts = { ...factsOf('announced'), leaseMs: 60_000 };
    await store.announce(facts);
    expect(await store.runs()).toEqual([facts]);
    expect([await store.renew(facts), await store.renew(factsOf('unknown'))]).toEqual([true, false]);
    expect([await store.spend('announced', 0.25), await store.spend('announced', 0.5)]).toEqual([0.25, 0.75]);
    await store.raiseSpent('announced', 2);
    await store.raiseSpent('announced', 1);
    expect(await store.spend('announced', 0)).toBe(2);
    await store.refuse('announced', 'first');
    await store.refuse('announced', 'second');
    const reasons = [await store.nextRefusal('announced'), await store.nextRefusal('announced')];
    expect([...reasons, await store.nextRefusal('announced')]).toEqual(['first', 'second', null]);
    await store.add({ run: 'announced', kind: 'solve' }, [{ id: 'ask-a', data: {} }]);
    expect(await store.waiting('announced', 'solve')).toBe(1);
    await store.withdraw('announced', { isWhole: true });
    expect([await store.runs(), await store.hasEnded('announced')]).toEqual([[], true]);
    await store.clear('announced', ['solve']);
    expect([await store.waiting('announced', 'solve'), await store.spend('announced', 0)]).toEqual([0, 0]);
  });
});

/** A store without Redis: gives one job to whoever consumes, and keeps the results. */
function storeWith(deaths: number): { readonly store: JobStore; readonly results: Promise<AskResult> } {
  const { promise: results, resolve } = Promise.withResolvers<AskResult>();
  const fake: Partial<JobStore> = {
    consume(_run, _kind, work) {
      void work({ id: 'ask-a', data: {}, deaths });
      return { close: () => Promise.resolve() };
    },
    addResult: async (_run, result) => resolve(result),
    spend: async () => 0,
    hasEnded: async () => false,
  };
  return { store: fake as JobStore, results };
}

describe('RunAsks', () => {
  it('an ask that several workers have died of fails, and is not tried again', async () => {
    const { store, results } = storeWith(mostDeaths);
    let tries = 0;
    const opened = { work: async () => (tries += 1), close: () => Promise.resolve() };
    const { signal } = new AbortController();
    const asks = new RunAsks({ store, facts: factsOf('r'), opened, atOnce: 1, signal, onFault: () => undefined });
    const { failure } = await results;
    await asks.close();
    expect([tries, failure?.code]).toEqual([0, 'ENGINE_UNAVAILABLE']);
    expect(failure?.message).toContain('3 workers died or hung');
  });

  it('a failure travels with its code and its words', async () => {
    const { store, results } = storeWith(0);
    const fault = Object.assign(new Error('the system answered with a stand-in'), { code: 'agent_fallback' });
    const opened = { work: () => Promise.reject(fault), close: () => Promise.resolve() };
    const { signal } = new AbortController();
    const asks = new RunAsks({ store, facts: factsOf('r'), opened, atOnce: 1, signal, onFault: () => undefined });
    expect(await results).toEqual({
      id: 'ask-a',
      dollars: 0,
      failure: { code: 'agent_fallback', message: 'the system answered with a stand-in' },
    });
    await asks.close();
  });
});
