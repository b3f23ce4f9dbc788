import { describe, expect, it } from 'vitest';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

describe('a slow connection with jitter and stalls', () => {
  it('delivers every sample in both directions over a slow connection with jitter and stalls', async () => {
    const says = ['One two three four five six seven eight nine ten.'];
    await using rig = await openRig({ says });
    await using proxy = await openFlakyProxy(rig.port, 5, {
      jitterMs: 8,
      stallShare: 0.05,
      stallMs: 40,
      bytesPerSecond: 2_000_000,
    });
    const recorded = recordTalk({ url: proxy.url });
    await recorded.talk.opened;
    recorded.speak();
    await recorded.until('response.done');
    expect(recorded.replySound().equals(rig.made())).toBe(true);
    expect(recorded.of('connection.lost')).toEqual([]);
    recorded.talk.close();
  });
});
