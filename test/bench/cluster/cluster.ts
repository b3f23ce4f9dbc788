import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { openTalk } from '../../../server/client/open-talk.js';
import type { TalkEvent } from '../../../server/client/types/api.d.ts';
import { hasRedis, startCluster } from '../../rigs/cluster-rig.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'cluster';
const settleMs = 6_000;
/** A session that is not back in this time counts as not resumed. */
const patienceMs = 15_000;
/** The fake voice says a word in 100 ms. */
const samplesPerWord = 2_400;

/** One client that talks without a pause, and what it noticed. */
interface Talker {
  /** Times from the loss of a connection to its return, since `begin`. */
  readonly backMs: number[];
  newSessions: number;
  isAway: boolean;
  restarts: number;
  /** Events of replies without their counterpart, and those that came twice. */
  misplacedEvents: number;
  /** Samples of replies more or fewer than their words have. */
  misplacedSamples: number;
  /** Replies that knew of more or fewer turns than there were. */
  misremembered: number;
  cutReplies: number;
  turns: number;
  stop(): Promise<void>;
}

/**
 * Three nodes on one Redis behind HAProxy (else a balancer of our own), and clients that talk all the time: one node is
 * killed, then one of the other two is stopped. `--sessions N`, 60 unless given. Servers are processes of their own with
 * fake engines; the clients share this one.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  if (!hasRedis) {
    console.error('skipped: the bench needs redis-server (Debian package redis-server)');
    return;
  }
  const sessions = args.includes('--sessions') ? Number(args[args.indexOf('--sessions') + 1]) : 60;
  const most = `${sessions * 4}`;
  await using cluster = await startCluster({
    DRAMATIS_PLAYOUT_AHEAD_MS: '400',
    DRAMATIS_MAX_SESSIONS: most,
    DRAMATIS_MAX_SESSIONS_PER_ADDRESS: most,
    DRAMATIS_MAX_HANDSHAKES_PER_MINUTE: '100000',
    TEST_NOTICE_MS: '2000',
  });
  const nodes = await Promise.all(Array.from({ length: 3 }, () => cluster.addNode()));
  await using balancer = await startHaproxy(nodes.map(({ port }) => port));
  if (balancer === undefined) throw new Error('the bench needs haproxy (Debian package haproxy)');
  const talkers = Array.from({ length: sessions }, () => talkWithoutEnd(balancer.url));
  await pause(settleMs);
  const [victim, leaving] = nodes;
  const before = await victim?.metric('dramatis_sessions');
  await victim?.kill();
  await settled(talkers);
  yield* rowsOf('killed', talkers);
  yield summarize(bench, 'killed: sessions of the node', 'count', [before ?? 0]);
  const counted = talkers.map(({ cutReplies, restarts }) => ({ cutReplies, restarts }));
  for (const talker of talkers) talker.backMs.length = 0;
  await leaving?.stop();
  await settled(talkers);
  yield summarize(
    bench,
    'stopped: resume',
    'ms',
    talkers.flatMap(({ backMs }) => backMs),
  );
  const since = (key: 'cutReplies' | 'restarts'): number =>
    talkers.reduce((sum, talker, at) => sum + talker[key] - (counted[at]?.[key] ?? 0), 0);
  yield summarize(bench, 'stopped: replies cut', 'count', [since('cutReplies')]);
  yield summarize(bench, 'stopped: sessions that noticed (`restarted`)', 'count', [since('restarts')]);
  await Promise.all(talkers.map((talker) => talker.stop()));
  yield* countsOf('all', talkers);
  yield summarize(bench, 'turns', 'count', [talkers.reduce((sum, { turns }) => sum + turns, 0)]);
}

function* rowsOf(what: string, talkers: readonly Talker[]): Iterable<BenchRow> {
  yield summarize(
    bench,
    `${what}: resume`,
    'ms',
    talkers.flatMap(({ backMs }) => backMs),
  );
  const lost = talkers.filter(({ isAway, newSessions }) => isAway || newSessions > 0).length;
  yield summarize(bench, `${what}: sessions not resumed`, 'count', [lost]);
  yield* countsOf(what, talkers);
}

function* countsOf(what: string, talkers: readonly Talker[]): Iterable<BenchRow> {
  const sum = (key: 'misplacedEvents' | 'misplacedSamples' | 'misremembered' | 'cutReplies'): number =>
    talkers.reduce((total, talker) => total + talker[key], 0);
  yield summarize(bench, `${what}: events lost or repeated`, 'count', [sum('misplacedEvents')]);
  yield summarize(bench, `${what}: samples lost or repeated`, 'count', [sum('misplacedSamples')]);
  yield summarize(bench, `${what}: turns forgotten or remembered twice`, 'count', [sum('misremembered')]);
  yield summarize(bench, `${what}: replies cut`, 'count', [sum('cutReplies')]);
}

/** Waits until every client is back, and has talked on for a while. */
async function settled(talkers: readonly Talker[]): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  await pause(settleMs);
  while (talkers.some(({ isAway }) => isAway) && performance.now() < untilMs) await pause(100);
}

/** Opens a session and says one sentence after the other. */
function talkWithoutEnd(url: string): Talker {
  let lostAtMs: number | undefined;
  let isStopping = false;
  let others = 0;
  let said = '';
  let turn = newTurn();
  const ended = Promise.withResolvers<void>();
  const talker: Talker = {
    backMs: [],
    newSessions: -1,
    isAway: false,
    restarts: 0,
    misplacedEvents: 0,
    misplacedSamples: 0,
    misremembered: 0,
    cutReplies: 0,
    turns: 0,
    async stop() {
      isStopping = true;
      await Promise.race([ended.promise, pause(patienceMs)]);
      talk.close();
    },
  };
  const say = (): void => {
    said = `story ${others}`;
    turn = newTurn();
    talk.say(said);
  };
  const take = (event: TalkEvent): void => {
    if (event.type === 'connection.lost') {
      lostAtMs ??= performance.now();
      talker.isAway = true;
    } else if (event.type === 'connection.open') {
      if (lostAtMs !== undefined) talker.backMs.push(performance.now() - lostAtMs);
      lostAtMs = undefined;
      talker.isAway = false;
      if (event.isNew) talker.newSessions += 1;
      if (event.isRestarted) talker.restarts += 1;
      if (event.isNew) {
        others = 0;
        say();
      }
    } else if (event.type === 'response.output_audio.delta') turn.samples += event.pcm16.length / 2;
    else if (event.type === 'response.output_audio_transcript.delta') turn.text += event.delta;
    else if (event.type === 'response.created') {
      if (turn.created.has(event.response.id)) talker.misplacedEvents += 1;
      turn.created.add(event.response.id);
    } else if (event.type === 'response.done') {
      if (!turn.created.delete(event.response.id)) talker.misplacedEvents += 1;
      // The rest of a reply that was cut comes in another one.
      if (event.response.status !== 'completed') return void (talker.cutReplies += 1);
      const answer = `So you told me ${said} after ${others} others and that is it.`;
      const counts = [...turn.text.matchAll(/after (\d+)/g)].map(([, count]) => Number(count));
      if (counts.length === 0 || counts.some((count) => count !== others)) talker.misremembered += 1;
      talker.misplacedEvents += turn.created.size;
      talker.misplacedSamples += Math.abs(turn.samples - answer.split(' ').length * samplesPerWord);
      talker.turns += 1;
      others += 1;
      if (isStopping) ended.resolve();
      else say();
    }
  };
  const talk = openTalk({ url, character: 'alice', WebSocket, onEvent: take });
  return talker;
}

function newTurn() {
  return { created: new Set<string>(), samples: 0, text: '' };
}

/** HAProxy before the nodes, set up by `server/operations/haproxy.cfg`; undefined if it is not installed. */
async function startHaproxy(ports: readonly number[]) {
  if (spawnSync('haproxy', ['-v']).status !== 0) return undefined;
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
