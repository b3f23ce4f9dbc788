import { describe, expect, it } from 'vitest';
import { Queue, untilAborted } from '../../../voices/runtime/streams.ts';

describe('untilAborted', () => {
  const { signal } = new AbortController();

  it('untilAborted passes a stream on in order', async () => {
    const items = (async function* () {
      yield 1;
      yield 2;
    })();
    expect(await Array.fromAsync(untilAborted(items, { signal }))).toEqual([1, 2]);
  });

  it('untilAborted throws the reason of an abort while the stream is silent', async () => {
    const controller = new AbortController();
    const next = untilAborted(new Queue<number>(), controller).next();
    controller.abort(new Error('hung up'));
    await expect(next).rejects.toThrow('hung up');
  });

  it('untilAborted reads nothing if the signal is already aborted', async () => {
    const passed = untilAborted(new Queue<number>(), { signal: AbortSignal.abort(new Error('gone')) });
    await expect(passed.next()).rejects.toThrow('gone');
  });

  it('untilAborted throws the error of the stream', async () => {
    const items = new Queue<number>();
    items.fail(new Error('unplugged'));
    await expect(untilAborted(items, { signal }).next()).rejects.toThrow('unplugged');
  });

  it('untilAborted closes the stream when the reader leaves', async () => {
    let left = false;
    const items = (async function* () {
      try {
        for (;;) yield 1;
      } finally {
        left = true;
      }
    })();
    for await (const item of untilAborted(items, { signal })) if (item === 1) break;
    expect(left).toBe(true);
  });
});
