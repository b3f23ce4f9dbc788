import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket } from 'ws';
import { memoryFile, MemoryStore } from '../../server/memory/store.ts';
import { shareOf, summarize, type BenchRow, type BenchShare } from './stats.ts';

/** What came of killing a server many times over one folder. */
export interface KillReport {
  readonly kills: number;
  /** Turns whose `response.done` had come before a kill. */
  readonly acknowledged: number;
  /** Of these, after each kill: those that the file does not hold. */
  readonly lost: number;
  /** Turns that the file holds more than once. */
  readonly doubled: number;
  /** Turns that the file holds and nobody had heard the end of: harmless. */
  readonly unheard: number;
  /** How each kill found the file: whether it opened and was whole. */
  readonly opened: readonly boolean[];
  readonly openMs: readonly number[];
}

const talkers = 4;
const answer = 'One two three.';

/**
 * Kills a server (SIGKILL) at random moments of conversations that go on all the time, `kills` times over the same file; looks after
 * each kill whether the file opens and holds every turn that was acknowledged, once.
 */
export async function killAtRandom(kills: number, mostLifeMs: number): Promise<KillReport> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-kill-'));
  const acknowledged = new Set<string>();
  const report = { lost: 0, doubled: 0, unheard: 0, opened: [] as boolean[], openMs: [] as number[] };
  try {
    for (let life = 0; life < kills; life += 1) {
      await oneLife(dataDir, life, Math.random() * mostLifeMs, acknowledged);
      const began = performance.now();
      const kept = keptIn(dataDir);
      report.openMs.push(performance.now() - began);
      report.opened.push(kept !== undefined);
      if (kept === undefined) continue;
      const whole = new Set(kept);
      report.lost += [...acknowledged].filter((turn) => !whole.has(turn)).length;
      report.doubled += kept.length - whole.size;
      report.unheard = whole.size - acknowledged.size;
    }
    return { kills, acknowledged: acknowledged.size, ...report };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Everything the file holds, as `user: asked → answered`; undefined where it does not open. */
function keptIn(dataDir: string): string[] | undefined {
  let store: MemoryStore;
  try {
    store = new MemoryStore(memoryFile(dataDir));
  } catch {
    return undefined;
  }
  const kept = [...Array(talkers).keys()].flatMap((talker) =>
    store
      .list({ owner: '', user: `user${talker}` })
      .flatMap((memory) => (memory.kind === 'turn' ? [`user${talker}: ${memory.asked} → ${memory.answered}`] : [])),
  );
  store.close();
  return kept;
}

/** Starts a server, has everybody talk to it, and kills it `lifeMs` after the first answer. */
async function oneLife(dataDir: string, life: number, lifeMs: number, acknowledged: Set<string>): Promise<void> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'memory-server.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as [unknown];
  const [, port] = /^on (\d+)/.exec(String(line)) ?? [];
  if (port === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the server did not start with memory on: ${String(line)}`);
  }
  const talks = [...Array(talkers).keys()].map((talker) => talk(port, talker, life, acknowledged));
  await Promise.race(talks.map(({ begun }) => begun));
  await new Promise((resolve) => setTimeout(resolve, lifeMs));
  child.kill('SIGKILL');
  await exited;
  await Promise.all(talks.map(({ closed }) => closed));
}

/** Talks in writing, one turn after the other, until the connection breaks. */
function talk(port: string, talker: number, life: number, acknowledged: Set<string>) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=alice&user=user${talker}`);
  const begun = Promise.withResolvers<void>();
  let turn = 0;
  let text = '';
  const send = (event: Record<string, unknown>): void => socket.send(JSON.stringify(event));
  const ask = (): void => {
    turn += 1;
    // Some have a fact in them, which is one more row of the same transaction.
    text = turn % 3 === 0 ? `I have ${turn} dogs in life ${life}.` : `Turn ${turn} of life ${life}, if you please.`;
    const content = [{ type: 'input_text', text }];
    send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    send({ type: 'response.create', response: { output_modalities: ['text'] } });
  };
  socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(data.toString()) as { type: string };
    if (type === 'session.created') ask();
    if (type !== 'response.done') return;
    acknowledged.add(`user${talker}: ${text} → ${answer}`);
    begun.resolve();
    ask();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      begun.resolve();
      resolve();
    });
  });
  return { begun: begun.promise, closed };
}

/** `--kills 200` unless given. */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> {
  const asked = args.includes('--kills') ? Number(args[args.indexOf('--kills') + 1]) : 200;
  const report = await killAtRandom(asked, 400);
  const { acknowledged, lost, doubled, unheard, opened, openMs } = report;
  const all = Array.from({ length: acknowledged }, (_, index) => index >= lost);
  yield shareOf('memory-kill', 'the file opens, whole, after kill -9', opened);
  yield shareOf('memory-kill', 'acknowledged turns that are there', all);
  yield shareOf(
    'memory-kill',
    'of these, not twice',
    Array.from({ length: acknowledged }, (_, index) => index >= doubled),
  );
  yield summarize('memory-kill', 'turns kept that nobody heard the end of', 'turns', [unheard]);
  yield summarize('memory-kill', 'opening and reading all after a kill', 'ms', openMs);
}
