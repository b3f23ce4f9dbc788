import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket } from 'ws';
import { openPostgresStore } from '../../../server/memory/postgres/postgres-store.ts';
import { memoryFile } from '../../../server/memory/store/store.ts';
import { openStoreThread } from '../../../server/memory/store/store-thread.ts';
import { shareOf, summarize, type BenchRow, type BenchShare } from '../kit/stats.ts';

/** Result of killing a server many times on the same folder. */
export interface KillReport {
  readonly kills: number;
  /** Turns whose `response.done` had arrived before a kill. */
  readonly acknowledged: number;
  /** Acknowledged turns missing from the file, summed over all kills. */
  readonly lost: number;
  /** Turns whose deletion was acknowledged, and those of them found in the file, summed over all kills. */
  readonly deleted: number;
  readonly returned: number;
  /** Turns that the file contains more than once. */
  readonly doubled: number;
  /** Turns in the file whose end no client had received: harmless. */
  readonly unheard: number;
  /** For each kill: whether the file opened and was intact. */
  readonly opened: readonly boolean[];
  readonly openMs: readonly number[];
}

/** The clients' knowledge of turns, as `user: asked → answered`. */
interface Told {
  readonly acknowledged: Set<string>;
  /** Deletion was requested, but not acknowledged. */
  readonly uncertain: Set<string>;
  readonly deleted: Set<string>;
}

const talkers = 4;
/** One of them deletes a memory now and then, the other all of theirs. */
const [deletes, erases] = [2, 3];
const answer = 'One two three.';

/** Up to this long after the last turn that a life is given, so that the kill also falls into writing. */
const mostAfterMs = 10;

/** Memories in PostgreSQL instead of a file. */
interface KilledDatabase {
  readonly url: string;
  /** Kills the database (SIGKILL), and starts it again. */
  readonly crash: () => Promise<void>;
  /** The database is killed in each life whose number this divides; the server is killed once it is back. */
  readonly every: number;
}

/**
 * Kills a server (SIGKILL) at random moments of continuous conversations, `kills` times with the same file: shortly
 * after a random turn, the `mostTurns`-th at the latest. Checks after each kill that the file opens and contains every
 * acknowledged turn exactly once.
 */
export async function killAtRandom(kills: number, mostTurns: number, database?: KilledDatabase): Promise<KillReport> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-kill-'));
  const told: Told = { acknowledged: new Set(), uncertain: new Set(), deleted: new Set() };
  const { acknowledged, deleted } = told;
  const report = { lost: 0, returned: 0, doubled: 0, unheard: 0, opened: [] as boolean[], openMs: [] as number[] };
  try {
    for (let life = 0; life < kills; life += 1) {
      await oneLife(dataDir, life, Math.ceil(Math.random() * mostTurns), told, database);
      const began = performance.now();
      const kept = await keptIn(dataDir, database?.url);
      report.openMs.push(performance.now() - began);
      report.opened.push(kept !== undefined);
      if (kept === undefined) continue;
      const whole = new Set(kept);
      report.lost += [...acknowledged].filter((turn) => !whole.has(turn)).length;
      report.returned += [...deleted].filter((turn) => whole.has(turn)).length;
      report.doubled += kept.length - whole.size;
      report.unheard = [...whole].filter((turn) => !acknowledged.has(turn) && !told.uncertain.has(turn)).length;
    }
    return { kills, acknowledged: acknowledged.size, deleted: deleted.size, ...report };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** All turns in the database, as `user: asked → answered`; undefined if it does not open. */
async function keptIn(dataDir: string, url: string | undefined): Promise<string[] | undefined> {
  try {
    const open = url === undefined ? openStoreThread(memoryFile(dataDir)) : openPostgresStore({ url, onChange() {} });
    const store = await open;
    const kept: string[] = [];
    for (const talker of Array(talkers).keys())
      for (const memory of await store.list({ owner: '', user: `user${talker}` }))
        if (memory.kind === 'turn') kept.push(`user${talker}: ${memory.asked} → ${memory.answered}`);
    await store.close();
    return kept;
  } catch {
    return undefined;
  }
}

/** Resolves when the server has stored everything that it could not while the database was gone. */
async function allKept(port: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const valueOf = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
    if (valueOf('dramatis_memory_up') === '1' && valueOf('dramatis_memory_turns_unkept') === '0') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts a server, runs all conversations, and kills it shortly after `turns` replies. */
async function oneLife(
  dataDir: string,
  life: number,
  turns: number,
  told: Told,
  database: KilledDatabase | undefined,
): Promise<void> {
  const file = path.join(import.meta.dirname, 'memory-server.ts');
  const child = spawn(process.execPath, [file, dataDir, ...(database === undefined ? [] : [database.url])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as [unknown];
  const [, port] = /^on (\d+)/.exec(String(line)) ?? [];
  if (port === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the server did not start with memory on: ${String(line)}`);
  }
  const lived = Promise.withResolvers<void>();
  let replies = 0;
  const onReply = (): void => void ((replies += 1) === turns && lived.resolve());
  const talks = [...Array(talkers).keys()].map((talker) => talk(port, talker, { life, told, onReply }));
  await Promise.race([lived.promise, exited]);
  if (database !== undefined) {
    if (life % database.every === 0) await database.crash();
    // What is not stored yet has a notice, and is lost with the server.
    await allKept(port);
  }
  await new Promise((resolve) => setTimeout(resolve, Math.random() * mostAfterMs));
  child.kill('SIGKILL');
  await exited;
  await Promise.all(talks);
}

/** Sends typed turns, one after the other, until the connection breaks. */
function talk(
  port: string,
  talker: number,
  { life, told, onReply }: { readonly life: number; readonly told: Told; readonly onReply: () => void },
): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=alice&user=user${talker}`);
  let turn = 0;
  let text = '';
  const send = (event: Record<string, unknown>): void => socket.send(JSON.stringify(event));
  const ask = (): void => {
    turn += 1;
    // Some contain a fact, which adds a row to the same transaction.
    text = turn % 3 === 0 ? `I have ${turn} dogs in life ${life}.` : `Turn ${turn} of life ${life}, if you please.`;
    const content = [{ type: 'input_text', text }];
    send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    send({ type: 'response.create', response: { output_modalities: ['text'] } });
  };
  socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(data.toString()) as { type: string };
    if (type === 'session.created') ask();
    if (type !== 'response.done') return;
    told.acknowledged.add(`user${talker}: ${text} → ${answer}`);
    onReply();
    if (turn % 5 === 0 && (talker === deletes || talker === erases))
      void forget(port, talker, told).then(ask, () => undefined);
    else ask();
  });
  socket.on('error', () => undefined);
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

/** Deletes the last turn, or all; it counts as deleted once that is acknowledged. Throws if the server is gone. */
async function forget(port: string, talker: number, told: Told): Promise<void> {
  const { acknowledged, uncertain, deleted } = told;
  const own = [...acknowledged].filter((turn) => turn.startsWith(`user${talker}: `));
  const address = `http://127.0.0.1:${port}/v1/memories`;
  const query = `?user=user${talker}`;
  const forgotten = talker === erases ? own : own.slice(-1);
  let path = '';
  if (talker === deletes) {
    const { data } = (await (await fetch(`${address}${query}&limit=1`)).json()) as { data: { id: string }[] };
    path = `/${data.at(-1)?.id}`;
  }
  for (const turn of forgotten) {
    acknowledged.delete(turn);
    uncertain.add(turn);
  }
  const { ok } = await fetch(`${address}${path}${query}`, { method: 'DELETE' });
  if (!ok) throw new Error('a memory could not be deleted');
  for (const turn of forgotten) {
    uncertain.delete(turn);
    deleted.add(turn);
  }
}

/** `--kills 200` unless given. */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow | BenchShare> {
  const asked = args.includes('--kills') ? Number(args[args.indexOf('--kills') + 1]) : 200;
  const report = await killAtRandom(asked, 60);
  yield* rowsOf('memory-kill', report);
}

/** The rows of a report. */
export function* rowsOf(bench: string, report: KillReport): Iterable<BenchRow | BenchShare> {
  const { acknowledged, lost, deleted, returned, doubled, unheard, opened, openMs } = report;
  const all = Array.from({ length: acknowledged }, (_, index) => index >= lost);
  yield shareOf(bench, 'the database opens, whole, after kill -9', opened);
  yield shareOf(bench, 'acknowledged turns that are there', all);
  yield shareOf(
    bench,
    'of these, not twice',
    Array.from({ length: acknowledged }, (_, index) => index >= doubled),
  );
  yield shareOf(
    bench,
    'turns whose deletion was answered that are gone',
    Array.from({ length: deleted }, (_, index) => index >= returned),
  );
  yield summarize(bench, 'turns kept that nobody heard the end of', 'turns', [unheard]);
  yield summarize(bench, 'opening and reading all after a kill', 'ms', openMs);
}
