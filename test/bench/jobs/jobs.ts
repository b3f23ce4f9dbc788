import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { openFarRun } from '../../../eval/jobs/far-run.ts';
import { machineClock, openBudget, openEndpoint } from '../../../eval/limits.ts';
import { openAudioStore } from '../../../eval/run-folder.ts';
import { openRunLog } from '../../../eval/run-log.ts';
import { noPriorResults, runTask } from '../../../eval/runner.ts';
import { countingTask, plainHeader } from '../../eval/counting-task.ts';
import { hasPostgres, hasRedis, startPostgres, startRedis, until } from '../../rigs/cluster-rig.ts';
import type { JobsProcess } from './jobs-process.ts';
import { freePort } from '../../rigs/kill-rig.ts';
import { sampleHeap } from '../kit/heap.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'jobs';
const asksPerSample = 3;
const workerPlaces = 32;
/** As long as a model takes: long enough that workers wait for it, and not for the cores of this machine. */
const modelMs = 250;
/** In the part that kills: slow enough that there is always something under way. */
const killedMs = 500;
const killedPlaces = 16;

/**
 * Runs distributed over workers, each in its own process, with a real Redis: asks a second of 1, 2 and 4 workers beside
 * a run without workers; what an ask costs more; kills of workers and coordinators; a rate limit that three workers share.
 * `--store postgres`: kills with the jobs in a real PostgreSQL; `--asks N`: 6,000 by default; `--only throughput|kills|rate|long` (`long`: one run of four workers, for 200,000 asks);
 * `--rpm N`: 600 calls a minute by default, counted in tenths of a minute; 60 are counted in whole ones.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  if (!hasRedis) {
    console.warn('skipped: the bench of jobs needs redis-server (Debian package redis-server)');
    return;
  }
  const asks = Number(args[args.indexOf('--asks') + 1]) || 6_000;
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined;
  const samples = Math.ceil(asks / asksPerSample);
  const store = args.includes('--store') ? args[args.indexOf('--store') + 1] : 'redis';
  if (store === 'postgres') return yield* hasPostgres ? killsInPostgres(samples) : [];
  if (only === undefined || only === 'throughput') yield* throughput(samples);
  if (only === undefined || only === 'kills') yield* kills(samples);
  if (only === undefined || only === 'rate') yield* rate(Number(args[args.indexOf('--rpm') + 1]) || 600);
  if (only === 'long') yield* long(samples);
}

function start(options: JobsProcess): ChildProcess {
  const file = path.join(import.meta.dirname, 'jobs-process.ts');
  return spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function stop(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }),
  );
}

async function inScratch<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-bench-jobs-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a run took. */
interface Took {
  readonly seconds: number;
  /** CPU of this process, ms. */
  readonly cpuMs: number;
}

const runnerParts = () => ({
  budget: openBudget({}, { clock: machineClock, spentDollars: 0 }),
  clock: machineClock,
  signal: new AbortController().signal,
});

/** A run in this process, with as many places as one worker has. */
function runHere(samples: number, delayMs: number): Promise<Took> {
  return inScratch(async (folder) => {
    const log = await openRunLog(path.join(folder, 'log.jsonl'));
    const limits = { concurrency: workerPlaces, retries: 0 };
    const endpoint = openEndpoint('model', limits, { clock: machineClock, random: () => 0.5 });
    const { signal } = new AbortController();
    const pause = (): Promise<void> =>
      endpoint.call(() => (delayMs > 0 ? machineClock.sleep(delayMs, signal) : Promise.resolve()), {
        signal,
        throwIfStopped: () => undefined,
      });
    const took = await measured(() =>
      runTask(countingTask(samples, { solve: pause, measure: pause }), noPriorResults, {
        ...runnerParts(),
        log,
        audio: openAudioStore(path.join(folder, 'audio')),
        concurrency: workerPlaces,
      }),
    );
    await log.close();
    return took;
  });
}

async function measured(work: () => Promise<unknown>): Promise<Took> {
  const before = process.cpuUsage();
  const startMs = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - startMs) / 1_000, cpuMs: (user + system) / 1_000 };
}

/** A run whose work workers do; this process coordinates. The time begins when all of them wait for work. */
function runFar(samples: number, workers: number, delayMs: number): Promise<Took & { readonly redisMiB: number }> {
  return inScratch(async (folder) => {
    const redis = await startRedis(await freePort());
    const log = await openRunLog(path.join(folder, 'log.jsonl'));
    const children = Array.from({ length: workers }, () => start({ url: redis.url, delayMs, atOnce: workerPlaces }));
    const client = new Redis(redis.url);
    try {
      // Each keeps one connection while it waits for runs.
      await until(async () => ((await client.client('LIST')) as string).split('\n').length - 2 >= workers);
      const task = countingTask(samples);
      const place = { folder, header: plainHeader, log, config: { agent: 'ours', agentConcurrency: workerPlaces } };
      const how = { wanted: { url: redis.url, workers: 0, leaseMs: 30_000 }, host: { note: () => undefined } };
      const rest = { maxDollars: undefined, spentDollars: 0, secrets: {} };
      const far = await openFarRun(task, { ...place, ...how, ...rest });
      const took = await measured(() =>
        runTask(far.task, noPriorResults, {
          ...runnerParts(),
          log: far.log,
          audio: openAudioStore(path.join(folder, 'audio')),
          concurrency: far.concurrency,
        }),
      );
      const peak = /used_memory_peak:(\d+)/.exec(await client.info('memory'))?.[1];
      await far.close(true);
      return { ...took, redisMiB: Number(peak) / 2 ** 20 };
    } finally {
      await stop(children);
      client.disconnect();
      await log.close();
      await redis.kill();
    }
  });
}

async function* throughput(most: number): AsyncIterable<BenchRow> {
  for (const delayMs of [0, modelMs]) {
    const samples = delayMs === 0 ? most : Math.ceil(most / 2);
    const asks = samples * asksPerSample;
    const of = `${asks} asks of ${delayMs} ms, ${workerPlaces} places a worker`;
    const here = await runHere(samples, delayMs);
    yield summarize(bench, `${of}: without workers`, 'asks/s', [asks / here.seconds]);
    for (const workers of [1, 2, 4]) {
      const heap = sampleHeap();
      const far = await runFar(samples, workers, delayMs);
      heap.stop();
      yield summarize(bench, `${of}: ${workers} workers`, 'asks/s', [asks / far.seconds]);
      if (delayMs === 0)
        yield summarize(bench, `overhead of an ask, ${workers} workers`, 'ms', [
          ((far.seconds - here.seconds) * 1_000) / asks,
        ]);
      if (workers !== 4) continue;
      yield summarize(bench, `${of}: CPU of the coordinator an ask`, 'ms', [far.cpuMs / asks]);
      yield summarize(bench, `${of}: most memory of Redis`, 'MiB', [far.redisMiB]);
      if (far.seconds > 10) yield* heap.rows(bench);
    }
  }
}

const workerKills = 20;
const coordinatorKills = 5;

async function* killsInPostgres(samples: number): AsyncIterable<BenchRow> {
  const postgres = await startPostgres();
  yield* kills(samples, await postgres.createDatabase('jobs'));
  await postgres.stop();
}

/**
 * Kills workers and coordinators at even distances of the log, and counts what became of each ask. `storeUrl`: of the
 * jobs; a Redis of its own unless given.
 */
async function* kills(samples: number, storeUrl?: string): AsyncIterable<BenchRow> {
  const asks = samples * asksPerSample;
  yield* await inScratch(async (folder) => {
    const redis = await startRedis(await freePort());
    const common = { url: storeUrl ?? redis.url, atOnce: killedPlaces, leaseMs: 10_000 };
    const startWorker = (): ChildProcess => start({ ...common, delayMs: killedMs, countsUrl: redis.url });
    const startCoordinator = (): ChildProcess => start({ ...common, folder, samples });
    const logLines = growingLog(path.join(folder, 'log.jsonl'));
    const workers = Array.from({ length: 3 }, startWorker);
    let coordinator = startCoordinator();
    const total = workerKills + coordinatorKills;
    for (let kill = 0; kill < total; kill += 1) {
      const due = (asks * (kill + 1)) / (total + 2);
      await until(async () => (await logLines()).length >= due);
      if (kill % 5 === 4) {
        coordinator.kill('SIGKILL');
        await once(coordinator, 'exit');
        coordinator = startCoordinator();
      } else {
        const at = kill % workers.length;
        workers[at]?.kill('SIGKILL');
        workers[at] = startWorker();
      }
    }
    if (coordinator.exitCode === null) await once(coordinator, 'exit');
    const done = (await logLines()).map((line) => {
      const { sample, ask = '' } = JSON.parse(line) as { sample: string; ask?: string };
      return `${sample}/${ask}`;
    });
    const client = new Redis(redis.url);
    const calls = Number(await client.get('bench-calls'));
    client.disconnect();
    await stop(workers);
    await redis.kill();
    const of = `${asks} asks${storeUrl === undefined ? '' : ' in PostgreSQL'}, ${workerKills} kills of workers, ${coordinatorKills} of coordinators`;
    return [
      summarize(bench, `${of}: asks lost`, 'count', [asks - new Set(done).size]),
      summarize(bench, `${of}: asks twice in the log`, 'count', [done.length - new Set(done).size]),
      summarize(bench, `${of}: calls repeated`, 'count', [calls - asks]),
      // Two kinds of asks, each with its places in a worker.
      summarize(bench, 'target: no more calls repeated than', 'count', [workerKills * killedPlaces * 2]),
    ];
  });
}

/** Returns the function that reads the results in a log; each time only what is new. */
function growingLog(file: string): () => Promise<readonly string[]> {
  const results: string[] = [];
  let rest = '';
  let offset = 0;
  return async () => {
    const handle = await open(file).catch(() => undefined);
    if (handle === undefined) return results;
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(Math.max(0, size - offset)), 0, undefined, offset);
    await handle.close();
    offset = Math.max(size, offset);
    const lines = (rest + buffer.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    results.push(...lines.filter((line) => /"event":"(?:output|measured)"/.test(line)));
    return results;
  };
}

/** One long run: asks a second, and whether memory stays flat. */
async function* long(samples: number): AsyncIterable<BenchRow> {
  const asks = samples * asksPerSample;
  const heap = sampleHeap();
  const far = await runFar(samples, 4, 0);
  heap.stop();
  yield summarize(bench, `${asks} asks, 4 workers`, 'asks/s', [asks / far.seconds]);
  yield summarize(bench, 'the same: CPU of the coordinator an ask', 'ms', [far.cpuMs / asks]);
  yield summarize(bench, 'the same: memory of the coordinator (RSS) at the end', 'MiB', [
    process.memoryUsage.rss() / 2 ** 20,
  ]);
  yield summarize(bench, 'the same: most memory of Redis', 'MiB', [far.redisMiB]);
  yield* heap.rows(bench);
}

/** Three workers under one rate limit: the most calls that the model's own clock sees in any six seconds, or in any minute. */
async function* rate(rpm: number): AsyncIterable<BenchRow> {
  const windowMs = rpm < 600 ? 60_000 : 6_000;
  const most = (rpm * windowMs) / 60_000;
  const samples = (most * 4) / asksPerSample;
  yield* await inScratch(async (folder) => {
    const redis = await startRedis(await freePort());
    const common = { url: redis.url, atOnce: workerPlaces, rpm };
    const workers = Array.from({ length: 3 }, () => start({ ...common, countsUrl: redis.url }));
    const coordinator = start({ ...common, folder, samples });
    await once(coordinator, 'exit');
    const client = new Redis(redis.url);
    const times = (await client.lrange('bench-at', 0, -1)).map(Number).toSorted((a, b) => a - b);
    client.disconnect();
    await stop(workers);
    await redis.kill();
    const counts = times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    return [
      summarize(
        bench,
        `${rpm} calls a minute, 3 workers: most calls in ${windowMs / 1_000} s (target ${most})`,
        'count',
        [Math.max(...counts)],
      ),
      summarize(bench, 'the same: calls a minute', 'count', [((times.length - 1) * 60) / seconds]),
    ];
  });
}
