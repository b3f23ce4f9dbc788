import { describe, expect, it } from 'vitest';
import { openTurnServer } from '../../../fakes/network/turn-server.ts';
import { watchUdp } from '../../../fakes/network/udp-watch.ts';
import { serve } from '../../../rigs/serve-rig.ts';
import {
  ask,
  candidatesOf,
  dial,
  loudness,
  NodeCaller,
  offerTo,
  refusalOf,
  singing,
} from '../../../rigs/webrtc-rig.ts';

describe('STUN', () => {
  it('announces the public address that the STUN server reports', async () => {
    using stun = await openTurnServer({ mapped: ['203.0.113.9', 4_242] });
    const flags = { webrtcHost: '0.0.0.0', webrtcAddress: '127.0.0.1', stunUrl: `stun:127.0.0.1:${stun.port}` };
    const { caller, answer } = await dial(await serve({ flags }));
    expect(candidatesOf(answer)).toEqual([
      { address: '127.0.0.1', port: expect.any(Number), type: 'host' },
      { address: '203.0.113.9', port: 4_242, type: 'srflx' },
    ]);
    await caller.until('session.created');
  });
});

describe('TURN', () => {
  const flagsFor = (port: number): Record<string, string> => ({
    turnUrl: `turn:127.0.0.1:${port}`,
    turnUser: 'user',
    turnCredential: 'credential',
  });

  it('carries a call only over the TURN relay in both directions', async () => {
    using turn = await openTurnServer({});
    const server = await serve({ engines: singing(), flags: flagsFor(turn.port) });
    const { caller, answer } = await dial(server);
    expect(candidatesOf(answer)).toEqual([{ address: '127.0.0.1', port: expect.any(Number), type: 'relay' }]);
    await ask(caller);
    await caller.until('output_audio_buffer.stopped');
    await caller.untilHeard(300);
    expect(loudness(await caller.heard())).toBeGreaterThan(0.2);
    expect(turn.seen.relayed).toBeGreaterThan(100);
    await caller.close();
    await expect.poll(() => server.sessions.active).toBe(0);
  });

  it('closes the relay allocation when the call ends', async () => {
    using turn = await openTurnServer({});
    const server = await serve({ flags: flagsFor(turn.port) });
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    await caller.connect(await (await offerTo(server, offer)).text());
    // Ours, and the relay's for us.
    expect(udp.bound()).toHaveLength(2);
    await Promise.all([caller.untilClosed(), server.app.close()]);
    expect(udp.bound()).toHaveLength(1);
  });

  it('refuses calls if the TURN server rejects the credentials', async () => {
    using turn = await openTurnServer({ credential: 'another' });
    const server = await serve({ flags: flagsFor(turn.port) });
    const response = await offerTo(server, await new NodeCaller().offer());
    expect(await refusalOf(response)).toEqual([503, 'webrtc_unavailable']);
    expect(server.sessions.opened).toBe(0);
    expect(server.log.join()).not.toContain('credential');
  });
});
