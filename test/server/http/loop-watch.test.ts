import { afterEach, describe, expect, it, vi } from 'vitest';
import { LoopWatch } from '../../../server/http/loop-watch.ts';
import { serve } from '../../rigs/serve-rig.ts';

afterEach(() => void vi.useRealTimers());

describe('LoopWatch', () => {
  it('calls the event loop late after five late seconds in a row, and on time after five on time', () => {
    vi.useFakeTimers();
    let ms = 0;
    const watch = new LoopWatch(25, () => ms);
    const after = (delayMs: number, seconds: number): boolean => {
      ms = delayMs;
      vi.advanceTimersByTime(seconds * 1_000);
      return watch.isLate;
    };
    expect(after(26, 4)).toBe(false);
    expect(after(25, 1)).toBe(false);
    expect(after(26, 4)).toBe(false);
    expect(after(26, 1)).toBe(true);
    expect(after(0, 4)).toBe(true);
    expect(after(26, 1)).toBe(true);
    expect(after(0, 5)).toBe(false);
    watch.close();
  });

  it('measures the delay of timers', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const watch = new LoopWatch(40);
    // A delay is measured between two ticks of the monitor, which ticks every 10 ms.
    const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    for (let second = 0; second < 60 && !watch.isLate; second += 1) {
      await tick();
      const endMs = performance.now() + 100;
      while (performance.now() < endMs) Math.sqrt(second);
      await tick();
      vi.advanceTimersByTime(1_000);
    }
    expect(watch.isLate).toBe(true);
    watch.close();
  });

  it('makes a server not ready, but alive, if a limit is set', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const delays = vi.spyOn(LoopWatch.prototype, 'isLate', 'get').mockReturnValue(true);
    const [limited, unlimited] = await Promise.all([serve({ flags: { maxLoopDelayMs: '25' } }), serve()]);
    expect(await limited.ask('/healthz')).toMatchObject({ status: 503, body: { status: 'busy' } });
    expect(await limited.ask('/livez')).toMatchObject({ status: 200 });
    expect(await unlimited.ask('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    delays.mockRestore();
  });
});
