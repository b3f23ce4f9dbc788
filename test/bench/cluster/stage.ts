import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster } from '../../rigs/cluster-rig.ts';
import { allFaults, startTalker, type Faults } from '../../rigs/cluster/talkers.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { cpuSecondsOf } from '../load/server-process.ts';

/** The clients talk this long before anything happens, and after everybody is back. */
const settleMs = 6_000;
/** A session that is not back in this time counts as not resumed. */
const patienceMs = 15_000;

/** Three nodes on one Redis behind HAProxy, and clients that talk all the time. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

export interface StageOptions {
  readonly sessions: number;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** `server-process.ts` of another version. */
  readonly program?: string | undefined;
}

/** Opens a stage whose clients have talked for some seconds. Servers are processes; the clients share this one. */
export async function openStage({ sessions, environment = {}, program }: StageOptions) {
  const most = `${sessions * 4}`;
  const cluster = await startCluster({
    DRAMATIS_PLAYOUT_AHEAD_MS: '400',
    DRAMATIS_MAX_SESSIONS: most,
    DRAMATIS_MAX_SESSIONS_PER_ADDRESS: most,
    DRAMATIS_MAX_HANDSHAKES_PER_MINUTE: '100000',
    TEST_NOTICE_MS: '2000',
    ...environment,
  });
  const nodes = await Promise.all(Array.from({ length: 3 }, () => cluster.addNode({}, { program })));
  const balancer = await startHaproxy(nodes.map(({ port }) => port));
  const talkers = Array.from({ length: sessions }, () => startTalker({ url: balancer.url }));
  await pause(settleMs);
  for (const { firstAudioMs, gapsMs } of talkers) firstAudioMs.length = gapsMs.length = 0;
  return {
    cluster,
    nodes,
    talkers,
    faultsBefore: allFaults(talkers),
    usage: startUsage(() => nodes.map(({ pid }) => pid)),
    unkept: async (): Promise<number> => {
      const counts = await Promise.all(nodes.map((node) => node.metric('dramatis_sessions_unkept').catch(() => 0)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(talkers.map((talker) => talker.stop()));
      await balancer[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** Waits until every client is back and has talked on for a while; tells what all of them noticed. */
export async function* outcomeOf(bench: string, what: string, stage: Stage): AsyncIterable<BenchRow> {
  const { talkers, usage, faultsBefore } = stage;
  const untilMs = performance.now() + patienceMs;
  await pause(1_000);
  while (talkers.some(({ isAway }) => isAway) && performance.now() < untilMs) await pause(100);
  const { clients, nodes } = usage();
  await pause(settleMs - 1_000);
  const all = (key: 'backMs' | 'firstAudioMs' | 'gapsMs'): number[] => talkers.flatMap((talker) => talker[key]);
  yield summarize(bench, `${what}: resume`, 'ms', all('backMs'));
  yield summarize(bench, `${what}: sessions not resumed`, 'count', [
    talkers.filter(({ isAway, faults }) => isAway || faults.newSessions > faultsBefore.newSessions).length,
  ]);
  const faults = allFaults(talkers);
  const names: readonly (readonly [keyof Faults, string])[] = [
    ['misplacedEvents', 'events lost or repeated'],
    ['misplacedSamples', 'samples lost or repeated'],
    ['misremembered', 'turns forgotten or remembered twice'],
    ['cutReplies', 'replies cut'],
    ['restarts', 'sessions that noticed (`restarted`)'],
  ];
  for (const [key, name] of names)
    yield summarize(bench, `${what}: ${name}`, 'count', [faults[key] - faultsBefore[key]]);
  yield summarize(bench, `${what}: pauses within a reply`, 'ms', all('gapsMs'));
  yield summarize(bench, `${what}: sentence → first audio`, 'ms', all('firstAudioMs'));
  yield summarize(bench, `${what}: cores taken by the clients`, 'count', [clients]);
  yield summarize(bench, `${what}: cores taken by the nodes`, 'count', [nodes]);
}

/** Returns a function that tells the cores which clients and nodes have taken since the last call. */
function startUsage(pids: () => readonly number[]) {
  let startMs = performance.now();
  let cpu = process.cpuUsage();
  let before = new Map<number, number>();
  const look = () => {
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const present = new Map(pids().map((pid) => [pid, cpuSecondsOf(pid)]));
    // A node that was killed is not measured, one that was started since from its start.
    const nodes = [...present].reduce((sum, [pid, used]) => sum + (used - (before.get(pid) ?? 0) || 0), 0) / seconds;
    startMs = performance.now();
    cpu = process.cpuUsage();
    before = present;
    return { clients: (user + system) / 1e6 / seconds, nodes };
  };
  look();
  return look;
}

/** HAProxy before the nodes, set up by `server/operations/haproxy.cfg`. */
async function startHaproxy(ports: readonly number[]) {
  if (spawnSync('haproxy', ['-v']).status !== 0) throw new Error('the bench needs haproxy (Debian package haproxy)');
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-haproxy-'));
  const port = await freePort();
  const file = path.join(folder, 'haproxy.cfg');
  const servers = ports.map((each) => `  server node${each} 127.0.0.1:${each}`);
  const shipped = await readFile(path.join(import.meta.dirname, '../../../server/operations/haproxy.cfg'), 'utf8');
  const own = shipped.replace('bind :8080', `bind 127.0.0.1:${port}`).replaceAll(/^ +server .*\n/gmu, '');
  await writeFile(file, `${own}${servers.join('\n')}\n`);
  const child: ChildProcess = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok) await pause(50);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
