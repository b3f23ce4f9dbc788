import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasRedis } from '../../rigs/cluster-rig.ts';
import { startReplicatedRedis } from '../../rigs/cluster/replicated-redis.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { openStage, outcomeOf, type Stage } from './stage.ts';

const bench = 'cluster';
const costMs = 15_000;

interface Options {
  readonly sessions: number;
  /** Checkout of the version before. */
  readonly previous: string | undefined;
}

/** What happens to the nodes, and is measured; each with three new nodes. */
const stages: Readonly<Record<string, (options: Options) => AsyncIterable<BenchRow>>> = {
  killed,
  stopped,
  slept,
  restarts,
  'redis-away': redisAway,
  failover,
  upgrade,
  cost,
};

/**
 * Three nodes on one Redis behind HAProxy, and clients that talk all the time. `--only NAMES` of `stages`, separated by
 * commas: `killed,stopped` unless given; `--sessions N`, 60 unless given; `--previous DIR` for `upgrade`.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  if (!hasRedis) {
    console.error('skipped: the bench needs redis-server (Debian package redis-server)');
    return;
  }
  const valueOf = (flag: string): string | undefined =>
    args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
  const options = { sessions: Number(valueOf('--sessions') ?? 60), previous: valueOf('--previous') };
  for (const name of (valueOf('--only') ?? 'killed,stopped').split(',')) {
    const stage = stages[name];
    if (stage === undefined) throw new Error(`--only ${name}: must be among ${Object.keys(stages).join(', ')}`);
    yield* stage(options);
  }
}

async function* killed({ sessions }: Options): AsyncIterable<BenchRow> {
  await using stage = await openStage({ sessions });
  yield* killOne('killed', stage);
}

async function* killOne(what: string, stage: Stage): AsyncIterable<BenchRow> {
  const [victim] = stage.nodes.splice(0, 1);
  const sessions = (await victim?.metric('dramatis_sessions')) ?? 0;
  stage.usage();
  await victim?.kill();
  yield* outcomeOf(bench, what, stage);
  yield summarize(bench, `${what}: sessions of the node`, 'count', [sessions]);
}

async function* stopped({ sessions }: Options): AsyncIterable<BenchRow> {
  await using stage = await openStage({ sessions });
  const [leaving] = stage.nodes.splice(0, 1);
  await leaving?.stop();
  yield* outcomeOf(bench, 'stopped', stage);
}

/** A node sleeps for ten seconds. */
async function* slept({ sessions }: Options): AsyncIterable<BenchRow> {
  await using stage = await openStage({ sessions });
  const [sleeper] = stage.nodes;
  sleeper?.signal('SIGSTOP');
  await pause(10_000);
  const startMs = performance.now();
  sleeper?.signal('SIGCONT');
  while ((await sleeper?.metric('dramatis_fenced_total')) === 0) await pause(10);
  yield summarize(bench, 'slept: hangs up after waking', 'ms', [performance.now() - startMs]);
  yield* outcomeOf(bench, 'slept', stage);
}

/** One node after the other is stopped and started again. */
async function* restarts({ sessions }: Options): AsyncIterable<BenchRow> {
  await using stage = await openStage({ sessions });
  yield* restartAll('restarts', stage);
}

async function* restartAll(what: string, { nodes, cluster, ...stage }: Stage): AsyncIterable<BenchRow> {
  const startMs = performance.now();
  for (const [at, node] of [...nodes].entries()) {
    await node.stop();
    nodes[at] = await cluster.addNode({}, { port: node.port });
    // The balancer knows it after two checks.
    await pause(1_500);
  }
  yield summarize(bench, `${what}: all three`, 's', [(performance.now() - startMs) / 1000]);
  yield* outcomeOf(bench, what, { nodes, cluster, ...stage });
}

/** Nodes of the version before are replaced by this one's. */
async function* upgrade({ sessions, previous }: Options): AsyncIterable<BenchRow> {
  if (previous === undefined) throw new Error('upgrade needs --previous DIR, a checkout of the version before');
  const program = path.resolve(previous, 'test/rigs/server-process.ts');
  await using stage = await openStage({ sessions, program });
  yield* restartAll('upgrade', stage);
}

/** Redis does not answer for ten seconds. */
async function* redisAway({ sessions }: Options): AsyncIterable<BenchRow> {
  await using stage = await openStage({ sessions });
  stage.cluster.redis.signal('SIGSTOP');
  await pause(10_000);
  yield summarize(bench, 'redis-away: sessions unkept meanwhile', 'count', [await stage.unkept()]);
  const startMs = performance.now();
  stage.cluster.redis.signal('SIGCONT');
  while ((await stage.unkept()) > 0) await pause(20);
  yield summarize(bench, 'redis-away: all kept again', 'ms', [performance.now() - startMs]);
  yield* outcomeOf(bench, 'redis-away', stage);
}

/** Redis fails over to a replica that lacks the last second; then a node is killed. */
async function* failover({ sessions }: Options): AsyncIterable<BenchRow> {
  await using redis = await startReplicatedRedis();
  await using stage = await openStage({ sessions, environment: { DRAMATIS_REDIS_URL: redis.url } });
  await redis.failOver(() => pause(1_000));
  const startMs = performance.now();
  await pause(100);
  while ((await stage.unkept()) > 0) await pause(20);
  yield summarize(bench, 'failover: all kept again', 'ms', [performance.now() - startMs]);
  await pause(1_000);
  yield* killOne('failover, then a node killed', stage);
}

/** What the nodes pay for Redis: the same talks on nodes that keep their journals in files. */
async function* cost({ sessions }: Options): AsyncIterable<BenchRow> {
  const alone = { DRAMATIS_REDIS_URL: '', DRAMATIS_NODE_URL: '', DRAMATIS_CLUSTER_KEY: '' };
  for (const [what, environment] of [
    ['nodes on Redis', {}],
    ['nodes alone', alone],
  ] as const) {
    await using stage = await openStage({ sessions, environment });
    stage.usage();
    const turnsBefore = stage.talkers.reduce((sum, { turns }) => sum + turns, 0);
    await pause(costMs);
    const turns = stage.talkers.reduce((sum, talker) => sum + talker.turns, 0) - turnsBefore;
    const { nodes } = stage.usage();
    yield summarize(bench, `cost, ${what}: CPU of the nodes a turn`, 'ms', [(nodes * costMs) / turns]);
    yield summarize(bench, `cost, ${what}: turns`, 'count', [turns]);
    yield summarize(
      bench,
      `cost, ${what}: sentence → first audio`,
      'ms',
      stage.talkers.flatMap(({ firstAudioMs }) => firstAudioMs),
    );
  }
}
