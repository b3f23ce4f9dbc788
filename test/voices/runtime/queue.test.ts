import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { Queue } from '../../../voices/runtime/streams.ts';

async function all<Item>(queue: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of queue) items.push(item);
  return items;
}

/** Runs everything that is ready to run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

describe('queue', () => {
  it('the queue returns items in order, whether pushed before or after the reader came', async () => {
    const queue = new Queue<number>();
    queue.push(1);
    queue.push(2);
    const reading = all(queue);
    await settle();
    queue.push(3);
    await settle();
    queue.push(4);
    queue.end();
    expect(await reading).toEqual([1, 2, 3, 4]);
  });

  it('ending the queue ends a waiting reader', async () => {
    const queue = new Queue<number>();
    const reading = all(queue);
    await settle();
    queue.end();
    expect(await reading).toEqual([]);
  });

  it('items pushed after the end are dropped', async () => {
    const queue = new Queue<number>();
    queue.push(1);
    queue.end();
    queue.push(2);
    queue.fail(new Error('too late'));
    expect(await all(queue)).toEqual([1]);
  });

  it('a failure with any value is thrown after the queued items', async () => {
    for (const reason of [new Error('broken'), undefined, null]) {
      const queue = new Queue<number>();
      const read: number[] = [];
      queue.push(1);
      queue.fail(reason);
      const reading = (async () => {
        for await (const item of queue) read.push(item);
      })();
      const outcome = await reading.then(
        () => 'no failure',
        (thrown: unknown) => thrown,
      );
      expect(outcome).toBe(reason);
      expect(read).toEqual([1]);
    }
  });

  it('the queue reports its length', async () => {
    const queue = new Queue<number>();
    for (let item = 0; item < 3; item += 1) queue.push(item);
    expect(queue.length).toBe(3);
    const reader = queue[Symbol.asyncIterator]();
    await reader.next();
    expect(queue.length).toBe(2);
  });

  it('the queue returns an item that is undefined', async () => {
    const queue = new Queue<undefined>();
    queue.push(undefined);
    queue.end();
    expect(await all(queue)).toEqual([undefined]);
  });

  it('the queue loses and repeats nothing over any mixture of pushes and reads', async () => {
    const steps = fc.array(fc.oneof(fc.constant('read' as const), fc.integer({ min: 1, max: 1_500 })), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (mixture) => {
        const queue = new Queue<number>();
        const reader = queue[Symbol.asyncIterator]();
        const read: number[] = [];
        let pushed = 0;
        for (const step of mixture) {
          if (step !== 'read') for (let count = 0; count < step; count += 1, pushed += 1) queue.push(pushed);
          else {
            for (let half = Math.floor(queue.length / 2); half > 0; half -= 1) read.push((await reader.next()).value);
          }
          expect(queue.length).toBe(pushed - read.length);
        }
        queue.end();
        for (let next = await reader.next(); !next.done; next = await reader.next()) read.push(next.value);
        expect(read).toEqual(Array.from({ length: pushed }, (_, index) => index));
      }),
      { numRuns: 50 },
    );
  });
});
