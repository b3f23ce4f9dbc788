import { Redis } from 'ioredis';
import { startBalancer, startRedis, until } from '../cluster-rig.ts';
import { freePort } from '../kill-rig.ts';

/** A primary and a replica behind one address, as a provider's failover looks to a node. The caller disposes of it. */
export async function startReplicatedRedis() {
  const primaryPort = await freePort();
  const primary = await startRedis(primaryPort, ['--repl-diskless-sync-delay', '0']);
  const [front, link] = await Promise.all([startBalancer(), startBalancer()]);
  front.sendTo({ port: primaryPort });
  link.sendTo({ port: primaryPort });
  const replicaPort = await freePort();
  const replica = await startRedis(replicaPort, ['--replicaof', '127.0.0.1', portOf(link.url)]);
  const client = new Redis(replica.url);
  client.on('error', () => undefined);
  await until(async () => (await client.info('replication')).includes('master_link_status:up'));
  return {
    /** URL for the nodes; it leads to the primary, after the failover to what was the replica. */
    url: `redis://127.0.0.1:${portOf(front.url)}`,
    /** For looking at what the replica has. */
    client,
    /** Cuts the replica off, waits for `forgotten`, whose writes it misses, kills the primary and promotes the replica. */
    async failOver(forgotten: () => Promise<void>): Promise<void> {
      link.close();
      await forgotten();
      await primary.kill();
      await client.replicaof('NO', 'ONE');
      front.sendTo({ port: replicaPort });
      front.cut();
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      front.close();
      link.close();
      await Promise.all([primary.kill(), replica.kill()]);
    },
  };
}

function portOf(url: string): string {
  return new URL(url).port;
}
