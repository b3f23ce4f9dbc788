import { describe, expect, it } from 'vitest';
import { inOrder } from '../../../../eval/construction/runner/in-order.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) yield number;
}

describe('work in order', () => {
  it('yields results in the order of the items, although later ones end first', async () => {
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const results = Array.fromAsync(
      inOrder(numbers(3), 3, (item) => gates[item]?.promise.then(() => item) ?? Promise.reject(new Error())),
    );
    for (const gate of gates.toReversed()) gate.resolve();
    expect(await results).toEqual([0, 1, 2]);
  });

  it('runs at most the given number at a time', async () => {
    let running = 0;
    let most = 0;
    const work = async (item: number): Promise<number> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return item;
    };
    expect(await Array.fromAsync(inOrder(numbers(20), 4, work))).toHaveLength(20);
    expect(most).toBe(4);
  });

  it('throws a failure at its turn, and waits for what runs', async () => {
    const ended: number[] = [];
    const work = async (item: number): Promise<number> => {
      await new Promise(setImmediate);
      if (item === 1) throw new Error('no');
      ended.push(item);
      return item;
    };
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const item of inOrder(numbers(3), 3, work)) seen.push(item);
      })(),
    ).rejects.toThrow('no');
    expect(seen).toEqual([0]);
    expect(ended).toEqual([0, 2]);
  });
});
