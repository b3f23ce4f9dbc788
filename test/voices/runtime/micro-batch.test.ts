import { describe, expect, it } from 'vitest';
import { openMicroBatch } from '../../../voices/runtime/micro-batch.ts';

const { signal } = new AbortController();

/** Runs that the test ends. */
function held(options: { readonly mostItems?: number; readonly lanes?: number } = {}) {
  const runs: { readonly items: readonly string[]; end(failure?: Error): void }[] = [];
  const batch = openMicroBatch<string, string>({
    mostItems: options.mostItems ?? 8,
    lanes: options.lanes ?? 1,
    kindOf: (item) => item.length,
    run: (items) =>
      new Promise((resolve, reject) => {
        const end = (failure?: Error): void => {
          if (failure === undefined) resolve(items.map((item) => item.toUpperCase()));
          else reject(failure);
        };
        runs.push({ items, end });
      }),
  });
  return { runs, batch };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('micro-batch', () => {
  it('items queued together run together, and each gets its own result', async () => {
    const { runs, batch } = held();
    const results = ['a', 'b', 'c'].map((item) => batch.add(item, { signal }));
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a', 'b', 'c']]);
    runs[0]?.end();
    expect(await Promise.all(results)).toEqual(['A', 'B', 'C']);
  });

  it('items that arrive during a run form the next batches: oldest first, alike, and limited', async () => {
    const { runs, batch } = held({ mostItems: 2 });
    const results = ['a', 'bb', 'c', 'dd', 'e', 'ff'].map((item) => batch.add(item, { signal }));
    const order: (readonly string[])[] = [];
    while (order.length < 4) {
      await turn();
      const run = runs.at(order.length);
      if (run === undefined) continue;
      order.push(run.items);
      run.end();
    }
    expect(order).toEqual([['a', 'c'], ['bb', 'dd'], ['e'], ['ff']]);
    expect(await Promise.all(results)).toEqual(['A', 'BB', 'C', 'DD', 'E', 'FF']);
  });

  it('the micro-batch uses all its lanes', async () => {
    const { runs, batch } = held({ lanes: 2, mostItems: 1 });
    const results = ['a', 'b', 'c'].map((item) => batch.add(item, { signal }));
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a'], ['b']]);
    for (const run of runs) run.end();
    await turn();
    await turn();
    runs[2]?.end();
    expect(await Promise.all(results)).toEqual(['A', 'B', 'C']);
  });

  it('an aborted waiting item is dropped, an aborted running one does not stop its batch, and a failure reaches the whole batch', async () => {
    const { runs, batch } = held();
    const controller = new AbortController();
    const first = batch.add('a', { signal });
    await turn();
    const waiting = batch.add('b', { signal: controller.signal });
    const other = batch.add('c', { signal });
    const reason = new Error('hung up');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(batch.add('d', { signal: controller.signal })).rejects.toBe(reason);
    runs[0]?.end();
    expect(await first).toBe('A');
    await turn();
    expect(runs[1]?.items).toEqual(['c']);
    const fault = new Error('out of memory');
    runs[1]?.end(fault);
    await expect(other).rejects.toBe(fault);
  });
});
