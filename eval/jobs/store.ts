import { Queue, WaitingError, Worker, type Job } from 'bullmq';
import { EvalError } from '../eval-error.ts';
import type { AskPlaces, AskResult, RunFacts } from './run-facts.ts';

const prefix = 'dramatis-jobs';
/** Redis has to answer within this time when it is opened. */
const patienceMs = 10_000;
/** A consumer that finds nothing asks again after this time, in seconds, if nobody wakes it. */
const idleSeconds = 1;
/** Workers learn for this long that a run is whole. */
const endedStayMs = 600_000;

/** Reserves the next start of KEYS[1] at ARGV[1], ARGV[2] ms after the one before; returns the milliseconds until then. */
const reserveScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = math.max(now, tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0'))
redis.call('HSET', KEYS[1], ARGV[1], start + ARGV[2])
return start - now`;

/** Lets the next start be ARGV[2] ms from now at the earliest. */
const restScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = math.max(now + ARGV[2], tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0'))
redis.call('HSET', KEYS[1], ARGV[1], start)`;

/** Raises the number at KEYS[1] to ARGV[1]. */
const raiseScript = `
local known = tonumber(redis.call('GET', KEYS[1]) or '0')
if known < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end`;

/** A job as it is handed to a consumer. */
export interface Delivered {
  readonly id: string;
  readonly data: unknown;
  /** Workers that have died of it. */
  readonly deaths: number;
}

/** What a consumer does with a job: `back` gives it to another one. */
export type Verdict = 'done' | 'back';

/** Takes jobs of one queue. */
export interface Consumer {
  /** Takes no more jobs, and resolves when those that it has are done. With `now` it leaves them to others. */
  close(now?: boolean): Promise<void>;
}

export interface ConsumeOptions {
  readonly atOnce: number;
  readonly leaseMs: number;
  readonly onFault: (fault: Error) => void;
}

/** The jobs of runs in a Redis 6.2 or later, or Valkey: the only file that knows BullMQ. */
export class JobStore {
  readonly #connection: { readonly url: string; readonly maxRetriesPerRequest: null };
  readonly #queues = new Map<string, Queue>();
  readonly #control: Queue;
  readonly #onFault: (fault: Error) => void;

  private constructor(url: string, onFault: (fault: Error) => void) {
    this.#connection = { url, maxRetriesPerRequest: null };
    this.#onFault = onFault;
    this.#control = new Queue('control', { connection: this.#connection, prefix, skipMetasUpdate: true });
    this.#control.on('error', onFault);
  }

  /** Connects. Throws an `EvalError` if no Redis answers. `onFault` hears of later failures, which are retried. */
  static async open(url: string, onFault: (fault: Error) => void): Promise<JobStore> {
    const where = placeOf(url);
    const store = new JobStore(url, onFault);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('no answer')), patienceMs);
    try {
      await Promise.race([store.#command('ping'), late]);
      return store;
    } catch (cause) {
      await store.#control.disconnect().catch(() => undefined);
      throw new EvalError('jobs', `No Redis answers at ${where}. Start one, or correct --jobs.`, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells workers of a run, for as long as it is renewed. */
  async announce(facts: RunFacts): Promise<void> {
    for (const [kind, places] of Object.entries(facts.kinds)) await this.#limit(facts.id, kind, places);
    await this.#command('set', key('run', facts.id), JSON.stringify(facts), 'PX', facts.leaseMs);
    await this.#command('sadd', key('runs'), facts.id);
  }

  /** False if Redis does not know the run any more. */
  async renew({ id, leaseMs }: RunFacts): Promise<boolean> {
    return (await this.#command('pexpire', key('run', id), leaseMs)) === 1;
  }

  /** Workers stop working on the run as soon as they see it; those of a whole run then remove what they left. */
  async withdraw(id: string, { isWhole }: { readonly isWhole: boolean }): Promise<void> {
    if (isWhole) await this.#command('set', key(id, 'ended'), 1, 'PX', endedStayMs);
    await this.#command('del', key('run', id));
    await this.#command('srem', key('runs'), id);
  }

  async hasEnded(id: string): Promise<boolean> {
    return (await this.#command('exists', key(id, 'ended'))) === 1;
  }

  /** Runs that are announced. */
  async runs(): Promise<readonly RunFacts[]> {
    const ids = (await this.#command('smembers', key('runs'))) as string[];
    const texts = await Promise.all(ids.map((id) => this.#command('get', key('run', id)) as Promise<string | null>));
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as RunFacts]));
  }

  /** Adds jobs; a job whose id is there already is added once. */
  async add(
    queue: { readonly run: string; readonly kind: string },
    jobs: readonly { readonly id: string; readonly data: unknown }[],
  ): Promise<void> {
    const opts = {
      removeOnComplete: true,
      removeOnFail: true,
      attempts: 1_000,
      backoff: { type: 'fixed', delay: 1_000 },
    };
    await this.#queue(queue.run, queue.kind).addBulk(
      jobs.map(({ id, data }) => ({ name: queue.kind, data, opts: { ...opts, jobId: id } })),
    );
  }

  /** Removes a job that waits. False if a worker has it. */
  async remove(run: string, kind: string, id: string): Promise<boolean> {
    return (
      (await this.#queue(run, kind)
        .remove(id)
        .catch(() => 0)) === 1
    );
  }

  /** Removes all jobs that wait. */
  async drain(run: string, kinds: readonly string[]): Promise<void> {
    for (const kind of kinds) await this.#queue(run, kind).drain(true);
  }

  /** Takes jobs of one kind. A job whose consumer dies is given to another one when its lease is over. */
  consume(run: string, kind: string, work: (job: Delivered) => Promise<Verdict>, options: ConsumeOptions): Consumer {
    const { atOnce, leaseMs, onFault } = options;
    const process = async (job: Job, token?: string): Promise<void> => {
      const given = { id: job.id ?? '', data: job.data as unknown, deaths: job.stalledCounter };
      if ((await work(given)) === 'done') return;
      await job.moveToWait(token);
      throw new WaitingError();
    };
    const worker = new Worker(nameOf(run, kind), process, {
      connection: this.#connection,
      prefix,
      concurrency: atOnce,
      lockDuration: leaseMs,
      stalledInterval: leaseMs / 2,
      maxStalledCount: 1_000_000,
      drainDelay: idleSeconds,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', onFault);
    return { close: (now = false) => worker.close(now) };
  }

  /** Adds results for the coordinator of a run. */
  addResult(run: string, result: AskResult): Promise<void> {
    return this.add({ run, kind: 'results' }, [{ id: result.id, data: result }]);
  }

  /** Results that have not been taken, and those that somebody has taken and not finished with. */
  async results(run: string): Promise<readonly AskResult[]> {
    const jobs = await this.#queue(run, 'results').getJobs(['waiting', 'active', 'delayed']);
    // A job that is finished meanwhile has no data.
    return jobs.flatMap((job: Job | undefined) => (job?.data === undefined ? [] : [job.data as AskResult]));
  }

  /** Adds to what the run has cost; resolves to the sum, in US dollars. */
  async spend(run: string, dollars: number): Promise<number> {
    return Number(await this.#command('incrbyfloat', key(run, 'spent'), dollars));
  }

  /** Has the run cost at least this much, in US dollars. */
  async raiseSpent(run: string, dollars: number): Promise<void> {
    await this.#command('eval', raiseScript, 1, key(run, 'spent'), dollars);
  }

  /** Reserves the next start of a call; resolves to the milliseconds until then. */
  async reserve(run: string, endpoint: string, gapMs: number): Promise<number> {
    return Number(await this.#command('eval', reserveScript, 1, key(run, 'turns'), endpoint, Math.ceil(gapMs)));
  }

  async rest(run: string, endpoint: string, ms: number): Promise<void> {
    await this.#command('eval', restScript, 1, key(run, 'turns'), endpoint, Math.ceil(ms));
  }

  /** A worker says why it does not work on a run. */
  async refuse(run: string, reason: string): Promise<void> {
    await this.#command('lpush', key(run, 'refusals'), reason);
    await this.#command('pexpire', key(run, 'refusals'), 60_000);
  }

  /** Takes the oldest refusal that has not been read. */
  async nextRefusal(run: string): Promise<string | null> {
    return (await this.#command('rpop', key(run, 'refusals'))) as string | null;
  }

  /** Removes everything of a run that is withdrawn. */
  async clear(run: string, kinds: readonly string[]): Promise<void> {
    for (const kind of [...kinds, 'results'])
      await this.#queue(run, kind).obliterate({ force: true }).catch(this.#onFault);
    await this.#command('del', key(run, 'spent'), key(run, 'refusals'), key(run, 'turns'));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values(), this.#control].map((queue) => queue.close().catch(() => undefined)));
  }

  async #limit(run: string, kind: string, { atOnce, isEach }: AskPlaces): Promise<void> {
    const queue = this.#queue(run, kind);
    if (isEach) await queue.removeGlobalConcurrency();
    else await queue.setGlobalConcurrency(atOnce);
  }

  #queue(run: string, kind: string): Queue {
    const name = nameOf(run, kind);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = new Queue(name, { connection: this.#connection, prefix, streams: { events: { maxLen: 100 } } });
    queue.on('error', this.#onFault);
    this.#queues.set(name, queue);
    return queue;
  }

  async #command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = await this.#control.getBackend().client;
    return (await client.runCommand(name, [...args])) as unknown;
  }
}

function key(...parts: readonly string[]): string {
  return [prefix, ...parts].join(':');
}

function nameOf(run: string, kind: string): string {
  return `${run}-${kind}`;
}

/** The address of a Redis without its user and password. */
export function placeOf(url: string): string {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  } catch {
    return 'the address of --jobs';
  }
}
