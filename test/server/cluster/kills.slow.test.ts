import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../eval/statistics.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { restore } from '../../../server/journal/restore.ts';
import { hashOf } from '../../../server/connections/resumable-sessions.ts';
import { hasRedis, startCluster } from '../../rigs/cluster-rig.ts';
import { allFaults, faultsBeyondKills, noFaults, startTalker, type Talker } from '../../rigs/cluster/talkers.ts';

/** `DRAMATIS_TEST_KILLS=20` for as many as were promised to be survived. */
const kills = Number(process.env['DRAMATIS_TEST_KILLS'] ?? 4);
const talks = 6;
/** A node is killed after as many events at the most, of all clients together. */
const mostEvents = 250;

if (!hasRedis) console.warn('skipped: the test of random kills needs redis-server (Debian package redis-server)');

/** The words of a conversation as Redis has them: of each message, those of all its replies. */
async function historyOf({ resumeToken }: Talker, client: Redis): Promise<string[]> {
  const rows = await client.lrange(`dramatis:{${hashOf(resumeToken)}}:lines`, 0, -1);
  const items =
    restore(
      rows.map((row) => JSON.parse(row) as JournalLine),
      0,
    )?.items ?? [];
  const messages: { role: string; text: string }[] = [];
  for (const item of items) {
    if (item.type !== 'message') throw new Error(`unexpected ${item.type}`);
    const [part] = item.content;
    const text = (part?.type === 'audio' ? part.transcript : part?.type === 'text' ? part.text : undefined) ?? '';
    const last = messages.at(-1);
    // The rest of a reply that was cut is another message.
    if (last !== undefined && last.role === item.role) last.text = `${last.text.trim()} ${text.trim()}`.trim();
    else messages.push({ role: item.role, text });
  }
  return messages.map(({ role, text }) => `${role}: ${text}`);
}

describe.skipIf(!hasRedis)('nodes that are killed at random', () => {
  it(`leave histories that are word for word those of a talk without kills, ${kills} times`, async () => {
    await using cluster = await startCluster({
      // Replies last as long as their sound.
      DRAMATIS_PLAYOUT_AHEAD_MS: '400',
      TEST_PATIENCE_MS: '1000,1500',
    });
    const { balancer, client } = cluster;
    const nodes = await Promise.all([cluster.addNode(), cluster.addNode(), cluster.addNode()]);
    balancer.sendTo(...nodes);
    let onEvent = (): void => undefined;
    const talkers = Array.from({ length: talks }, () =>
      startTalker({ url: balancer.url, speaks: true, onEvent: () => onEvent() }),
    );
    const events = (count: number): Promise<void> =>
      new Promise((resolve) => {
        let left = count;
        onEvent = () => {
          left -= 1;
          if (left <= 0) resolve();
        };
      });
    const random = seededRandom(21);
    for (let kill = 0; kill < kills; kill += 1) {
      await events(1 + Math.floor(random() * mostEvents));
      const [victim] = nodes.splice(Math.floor(random() * nodes.length), 1);
      balancer.sendTo(...nodes);
      await victim?.kill();
      nodes.push(await cluster.addNode());
      balancer.sendTo(...nodes);
    }
    await Promise.all(talkers.map((talker) => talker.rest()));
    const histories = await Promise.all(talkers.map((talker) => historyOf(talker, client)));
    expect(faultsBeyondKills(talkers)).toEqual(noFaults());
    expect(allFaults(talkers).restarts).toBeGreaterThan(0);
    for (const { talk } of talkers) talk.close();
    const turns = Math.max(...talkers.map((talker) => talker.turns));
    // A node that need not wait while its replies play.
    const quick = await cluster.addNode({ DRAMATIS_PLAYOUT_AHEAD_MS: '5000' });
    const quiet = startTalker({ url: quick.url, speaks: true, turns });
    await quiet.done;
    const whole = await historyOf(quiet, client);
    expect(whole).toHaveLength(turns * 2);
    for (const [index, history] of histories.entries())
      expect(history).toEqual(whole.slice(0, (talkers[index]?.turns ?? 0) * 2));
    quiet.talk.close();
  }, 600_000);
});
