import { createPostgresBackend, Queue, WaitingError, withBackend, Worker, type Job, type WorkerOptions } from 'bullmq';
import { EvalError } from '../eval-error.ts';
import { placeOf } from './job-flags.ts';
import type { RunLedger } from './ledger.ts';
import { persist, postgresLedger, schema, type Query } from './postgres-ledger.ts';
import { prefix, redisLedger } from './redis-ledger.ts';
import type { AskPlaces, AskResult, RunFacts } from './run-facts.ts';

/** The store has to answer within this time when it is opened. */
const patienceMs = 10_000;
/** A consumer that finds nothing asks again after this time, in seconds, unless it is woken. */
const idleSeconds = 1;
/** A job as it is handed to a consumer. */
export interface Delivered {
  readonly id: string;
  readonly data: unknown;
  /** Workers that have died of it. */
  readonly deaths: number;
}

/** Verdict of a consumer on a job: `back` gives it to another one. */
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

/** The jobs of runs in a Redis 6.2 or later, Valkey, or PostgreSQL 14 or later: the only file that knows BullMQ. */
export class JobStore {
  readonly #backend: Backend;
  readonly #queues = new Map<string, Queue>();
  readonly #control: Queue;
  readonly #ledger: RunLedger;
  readonly #onFault: (fault: Error) => void;

  private constructor(backend: Backend, control: Queue, ledger: RunLedger, onFault: (fault: Error) => void) {
    this.#backend = backend;
    this.#control = control;
    this.#ledger = ledger;
    this.#onFault = onFault;
  }

  /** Connects. Throws an `EvalError` if no store answers. `onFault` is called for later failures, which are retried. */
  static async open(url: string, onFault: (fault: Error) => void): Promise<JobStore> {
    const backend = isPostgres(url) ? postgresBackend(url) : redisBackend(url);
    const control = backend.openQueue('control');
    control.on('error', onFault);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('no answer')), patienceMs);
    try {
      const ledger = await Promise.race([backend.openLedger(control, onFault), late]);
      return new JobStore(backend, control, ledger, onFault);
    } catch (cause) {
      await control.disconnect().catch(() => undefined);
      const message = `No ${backend.name} answers at ${placeOf(url)}. Start one, or correct --jobs.`;
      throw new EvalError('jobs', message, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells workers of a run, for as long as it is renewed. */
  async announce(facts: RunFacts): Promise<void> {
    for (const [kind, places] of Object.entries(facts.kinds)) await this.#limit(facts.id, kind, places);
    await this.#ledger.announce(facts);
  }

  /** False if the store does not know the run any more. */
  renew(facts: RunFacts): Promise<boolean> {
    return this.#ledger.renew(facts);
  }

  /** Workers stop working on the run as soon as they see it; those of a whole run then remove what they left. */
  withdraw(id: string, options: { readonly isWhole: boolean }): Promise<void> {
    return this.#ledger.withdraw(id, options);
  }

  hasEnded(id: string): Promise<boolean> {
    return this.#ledger.hasEnded(id);
  }

  /** Runs that are announced. */
  runs(): Promise<readonly RunFacts[]> {
    return this.#ledger.runs();
  }

  /** Adds jobs; a job whose id already exists is not added again. */
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
    const bulk = jobs.map(({ id, data }) => ({ name: queue.kind, data, opts: { ...opts, jobId: id } }));
    await this.#backend.persist(() => this.#queue(queue.run, queue.kind).addBulk(bulk), this.#onFault);
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

  /** Number of jobs of one kind that nobody has taken yet. */
  waiting(run: string, kind: string): Promise<number> {
    return this.#queue(run, kind).getWaitingCount();
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
    const worker = this.#backend.openWorker(nameOf(run, kind), process, {
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
    return {
      close: async (now = false) => {
        await this.#backend.beforeClose(worker);
        await worker.close(now);
      },
    };
  }

  /** Adds results for the coordinator of a run. */
  addResult(run: string, result: AskResult): Promise<void> {
    return this.add({ run, kind: 'results' }, [{ id: result.id, data: result }]);
  }

  /** Results that have not been taken, and those that were taken but not finished. */
  async results(run: string): Promise<readonly AskResult[]> {
    const jobs = await this.#queue(run, 'results').getJobs(['waiting', 'active', 'delayed']);
    // A job that has been finished in the meantime has no data.
    return jobs.flatMap((job: Job | undefined) => (job?.data === undefined ? [] : [job.data as AskResult]));
  }

  /** Adds to what the run has cost; resolves to the sum, in US dollars. */
  spend(run: string, dollars: number): Promise<number> {
    return this.#ledger.spend(run, dollars);
  }

  /** Has the run cost at least this much, in US dollars. */
  raiseSpent(run: string, dollars: number): Promise<void> {
    return this.#ledger.raiseSpent(run, dollars);
  }

  /** Reserves the next start of a call; resolves to the milliseconds until then. */
  reserve(run: string, endpoint: string, gapMs: number): Promise<number> {
    return this.#ledger.reserve(run, endpoint, gapMs);
  }

  rest(run: string, endpoint: string, ms: number): Promise<void> {
    return this.#ledger.rest(run, endpoint, ms);
  }

  /** A worker says why it does not work on a run. */
  refuse(run: string, reason: string): Promise<void> {
    return this.#ledger.refuse(run, reason);
  }

  /** Takes the oldest refusal that has not been read. */
  nextRefusal(run: string): Promise<string | null> {
    return this.#ledger.nextRefusal(run);
  }

  /** Removes everything of a run that is withdrawn. */
  async clear(run: string, kinds: readonly string[]): Promise<void> {
    for (const kind of [...kinds, 'results'])
      await this.#queue(run, kind).obliterate({ force: true }).catch(this.#onFault);
    await this.#ledger.clear(run);
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
    const queue = this.#backend.openQueue(name);
    queue.on('error', this.#onFault);
    this.#queues.set(name, queue);
    return queue;
  }
}

/** One of the two stores, as BullMQ opens it. */
interface Backend {
  readonly name: string;
  openQueue(name: string): Queue;
  openWorker(
    name: string,
    work: (job: Job, token?: string) => Promise<void>,
    options: Omit<WorkerOptions, 'connection'>,
  ): Worker;
  beforeClose(worker: Worker): Promise<void>;
  openLedger(control: Queue, onFault: (fault: Error) => void): Promise<RunLedger>;
  /** Does it again for as long as the store is away. */
  persist<Result>(command: () => Promise<Result>, onFault: (fault: Error) => void): Promise<Result>;
}

const events = { events: { maxLen: 100 } };

function redisBackend(url: string): Backend {
  const connection = { url, maxRetriesPerRequest: null };
  return {
    name: 'Redis',
    openQueue: (name) => new Queue(name, { connection, prefix, streams: events, skipMetasUpdate: name === 'control' }),
    openWorker: (name, work, options) => new Worker(name, work, { ...options, connection, prefix }),
    beforeClose: () => Promise.resolve(),
    async openLedger(control) {
      const command = async (name: string, ...args: readonly (string | number)[]): Promise<unknown> => {
        const client = await control.getBackend().client;
        return (await client.runCommand(name, [...args])) as unknown;
      };
      await command('ping');
      return redisLedger(command);
    },
    // The client itself waits for Redis.
    persist: (command) => command(),
  };
}

/** Connections of each queue and of each consumer; PostgreSQL allows 100 in all unless told otherwise. */
const mostConnections = 3;

function postgresBackend(url: string): Backend {
  const classes = withBackend(createPostgresBackend);
  const connection = { connectionString: url, schema, migrate: true, max: mostConnections };
  return {
    name: 'PostgreSQL',
    openQueue: (name) => new classes.Queue(name, { connection, streams: events }) as unknown as Queue,
    openWorker: (name, work, options) =>
      new classes.Worker(name, work as never, { ...options, connection }) as unknown as Worker,
    // One that is closed while it connects would keep its connection, and the process would not end.
    beforeClose: (worker) => worker.waitUntilReady().catch(() => undefined),
    async openLedger(control, onFault) {
      await control.waitUntilReady();
      const { pool } = (control.getBackend() as unknown as { readonly connection: { readonly pool: { query: Query } } })
        .connection;
      let isOpen = false;
      const ask: Query = (text, values) => pool.query(text, values);
      const ledger = await postgresLedger((text, values) =>
        isOpen ? persist(() => ask(text, values), onFault) : ask(text, values),
      );
      isOpen = true;
      return ledger;
    },
    persist,
  };
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url);
}

function nameOf(run: string, kind: string): string {
  return `${run}-${kind}`;
}
