import { afterEach, describe, expect, it, vi } from 'vitest';
import { watchUdp } from '../../../fakes/network/udp-watch.ts';
import { serve } from '../../../rigs/serve-rig.ts';
import { NodeCaller, offerTo, singing } from '../../../rigs/webrtc-rig.ts';

/** The limit promised in the READMEs. */
const mostMs = 30_000;

afterEach(() => void vi.useRealTimers());

describe('vanished caller', () => {
  it('releases session, engines and socket of a vanished caller within half a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engines = singing({ says: [Array.from({ length: 600 }, () => 'word').join(' ')] });
    const server = await serve({ engines });
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    const answer = await (await offerTo(server, offer)).text();
    await caller.connect(answer);
    caller.send({ type: 'response.create' });
    await caller.until('output_audio_buffer.started');
    await caller.vanish();
    await vi.advanceTimersByTimeAsync(mostMs / 3);
    expect(server.sessions.active).toBe(1);
    await vi.advanceTimersByTimeAsync((mostMs * 2) / 3);
    await vi.waitFor(() => expect(udp.bound()).toEqual([]));
    expect(server.sessions.active).toBe(0);
    expect(engines.fakeVad.openStreams).toBe(0);
    expect(server.log.filter((line) => line.includes('fault'))).toEqual([]);
  });

  it('releases a call that was never connected within half a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await serve();
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    expect((await offerTo(server, offer)).status).toBe(201);
    expect(server.sessions.active).toBe(1);
    await vi.advanceTimersByTimeAsync(mostMs);
    await vi.waitFor(() => expect(udp.bound()).toEqual([]));
    expect(server.sessions.active).toBe(0);
  });
});
