import { describe, expect, it } from 'vitest';
import { openLimiter } from '../../../voices/calls/limiter.ts';

const { signal } = new AbortController();

describe('limiter', () => {
  it('the limiter admits a fixed number at a time, in order of arrival', async () => {
    const limiter = openLimiter(2);
    const order: string[] = [];
    const leave = [await limiter.enter({ signal }), await limiter.enter({ signal })];
    const waiting = ['first', 'second'].map((name) => limiter.enter({ signal }).then(() => order.push(name)));
    expect([limiter.running, limiter.waiting]).toEqual([2, 2]);
    leave[0]?.();
    await waiting[0];
    expect(order).toEqual(['first']);
    leave[1]?.();
    await waiting[1];
    expect(order).toEqual(['first', 'second']);
  });

  it('the limiter keeps no owner waiting behind another owner’s many calls', async () => {
    const limiter = openLimiter(1);
    const [greedy, modest] = [{}, {}];
    const order: string[] = [];
    const go = (name: string, owner: object): Promise<void> =>
      limiter.enter({ signal, owner }).then((leave) => {
        order.push(name);
        leave();
      });
    const leave = await limiter.enter({ signal, owner: greedy });
    const all = [go('greedy 1', greedy), go('greedy 2', greedy), go('modest', modest)];
    leave();
    await Promise.all(all);
    expect(order).toEqual(['modest', 'greedy 1', 'greedy 2']);
  });

  it('the limiter forgets a call that stops waiting', async () => {
    const limiter = openLimiter(1);
    const leave = await limiter.enter({ signal });
    const controller = new AbortController();
    const reason = new Error('the user hung up');
    const waiting = limiter.enter({ signal: controller.signal });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(limiter.waiting).toBe(0);
    leave();
    expect(limiter.running).toBe(0);
  });

  it('the limiter frees a place only once, however often it is released', async () => {
    const limiter = openLimiter(1);
    const leave = await limiter.enter({ signal });
    leave();
    leave();
    await limiter.enter({ signal });
    expect(limiter.running).toBe(1);
  });

  it('the limiter admits a background call only when no other call runs, and asks it to give way to the next', async () => {
    const limiter = openLimiter(2);
    const told: string[] = [];
    const leaveTalk = await limiter.enter({ signal });
    const waiting = limiter.enter({ signal, giveWay: () => told.push('told') });
    const another = limiter.enter({ signal });
    leaveTalk();
    (await another)();
    const leave = await waiting;
    expect([told, limiter.running]).toEqual([[], 1]);
    const leaveNext = await limiter.enter({ signal });
    expect(told).toEqual(['told']);
    leave();
    leaveNext();
    expect(limiter.running).toBe(0);
  });
});
