import { Worker, type Transferable } from 'node:worker_threads';
import { EngineError, type CallOptions } from '../engine.ts';
import type { CarriedFault } from './carried-fault.ts';

/** Messages to and from a worker of a pool; see `worker-serve.ts` for the other end. */
export interface WorkerRequest<Request> {
  readonly id: number;
  readonly request: Request;
}
export type WorkerReply<Reply> =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly error: CarriedFault };

/** Requests of an engine at the moment. */
export interface EngineLoad {
  readonly running: number;
  readonly waiting: number;
}

/** Worker threads that run a blocking engine, each one request at a time. */
export interface WorkerPool<Request, Reply> {
  /**
   * Runs one request. Waiting requests start in order of `priority`, higher first, then of arrival. Aborting drops a
   * waiting request at once; a running one completes and its reply is discarded. A worker that dies fails its request
   * with `ENGINE_UNAVAILABLE` and is replaced. `transfer` lists buffers of the request to be moved instead of copied.
   */
  call(request: Request, options: PoolCallOptions): Promise<Reply>;
  readonly load: EngineLoad;
  close(): Promise<void>;
}

interface PoolCallOptions extends CallOptions {
  readonly priority?: number;
  readonly transfer?: readonly Transferable[];
}

interface Job<Request, Reply> {
  readonly id: number;
  readonly request: Request;
  readonly priority: number;
  readonly transfer: readonly Transferable[];
  readonly signal: AbortSignal;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (reason: unknown) => void;
  readonly onAbort: () => void;
}

/** Opens a pool of at most `size` threads running the module at `url`; threads start when first needed. */
export function openWorkerPool<Request, Reply>(settings: PoolSettings): WorkerPool<Request, Reply> {
  return new Pool(settings);
}

interface PoolSettings {
  /** Names the engine in errors and the threads in a debugger. */
  readonly name: string;
  readonly url: URL;
  readonly size: number;
  readonly workerData?: unknown;
  /** Wait of a closing pool for running requests, in ms; default 0. Terminating native code crashes the process. */
  readonly finishMs?: number;
}

class Pool<Request, Reply> implements WorkerPool<Request, Reply> {
  readonly #settings: PoolSettings;
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Job<Request, Reply>>();
  readonly #waiting: Job<Request, Reply>[] = [];
  #nextId = 1;
  #closed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  get load(): EngineLoad {
    return { running: this.#busy.size, waiting: this.#waiting.length };
  }

  call(request: Request, options: PoolCallOptions): Promise<Reply> {
    const { signal } = options;
    return new Promise<Reply>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#closed)
        return reject(new EngineError(this.#settings.name, 'ENGINE_UNAVAILABLE', 'the engine is closed'));
      const job: Job<Request, Reply> = {
        id: this.#nextId,
        request,
        priority: options.priority ?? 0,
        transfer: options.transfer ?? [],
        signal,
        resolve,
        reject,
        onAbort: () => this.#drop(job),
      };
      this.#nextId += 1;
      signal.addEventListener('abort', job.onAbort, { once: true });
      const after = this.#waiting.findIndex((other) => other.priority < job.priority);
      this.#waiting.splice(after < 0 ? this.#waiting.length : after, 0, job);
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const gone = new EngineError(this.#settings.name, 'ENGINE_UNAVAILABLE', 'the engine is closed');
    for (const job of [...this.#waiting.splice(0), ...this.#busy.values()]) this.#settle(job, () => job.reject(gone));
    await Promise.all([...this.#busy.keys()].map((worker) => this.#finished(worker)));
    await Promise.all([...this.#idle, ...this.#busy.keys()].map((worker) => worker.terminate()));
  }

  /** Settles when a worker's current request is over, or has taken too long. */
  #finished(worker: Worker): Promise<void> {
    const { finishMs = 0 } = this.#settings;
    if (finishMs === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const limit = setTimeout(resolve, finishMs);
      const over = (): void => {
        clearTimeout(limit);
        resolve();
      };
      worker.once('message', over);
      worker.once('exit', over);
    });
  }

  #startNext(): void {
    const room = this.#idle.length > 0 || this.#busy.size < this.#settings.size;
    const job = room && !this.#closed ? this.#waiting.shift() : undefined;
    if (job === undefined) return;
    const worker = this.#idle.pop() ?? this.#spawn();
    try {
      worker.postMessage({ id: job.id, request: job.request } satisfies WorkerRequest<Request>, job.transfer);
    } catch (cause) {
      this.#idle.push(worker);
      worker.unref();
      const error = new EngineError(this.#settings.name, 'ENGINE_REFUSED', 'the request cannot be sent', cause);
      this.#settle(job, () => job.reject(error));
      return this.#startNext();
    }
    this.#busy.set(worker, job);
    worker.ref();
  }

  #spawn(): Worker {
    const worker = new Worker(this.#settings.url, { workerData: this.#settings.workerData, name: this.#settings.name });
    worker.on('message', (message: WorkerReply<Reply>) => this.#finish(worker, message));
    worker.on('messageerror', () => void worker.terminate());
    worker.on('error', (cause) => this.#lose(worker, cause));
    worker.on('exit', () => this.#lose(worker, undefined));
    return worker;
  }

  #finish(worker: Worker, message: WorkerReply<Reply>): void {
    const job = this.#busy.get(worker);
    if (job === undefined || job.id !== message.id) return;
    this.#busy.delete(worker);
    this.#idle.push(worker);
    // A closed pool must wait for its threads to end, even if nothing else keeps the process alive.
    if (!this.#closed) worker.unref();
    this.#settle(job, () => {
      if ('reply' in message) job.resolve(message.reply);
      else job.reject(new EngineError(this.#settings.name, message.error.code, message.error.detail));
    });
    this.#startNext();
  }

  #lose(worker: Worker, cause: unknown): void {
    const job = this.#busy.get(worker);
    this.#busy.delete(worker);
    const place = this.#idle.indexOf(worker);
    if (place >= 0) this.#idle.splice(place, 1);
    const detail = cause instanceof Error ? `its worker thread failed: ${cause.message}` : 'its worker thread ended';
    if (job !== undefined) {
      const error = new EngineError(this.#settings.name, 'ENGINE_UNAVAILABLE', detail, cause);
      this.#settle(job, () => job.reject(error));
    }
    this.#startNext();
  }

  #drop(job: Job<Request, Reply>): void {
    const place = this.#waiting.indexOf(job);
    if (place >= 0) this.#waiting.splice(place, 1);
    job.reject(job.signal.reason);
  }

  #settle(job: Job<Request, Reply>, act: () => void): void {
    job.signal.removeEventListener('abort', job.onAbort);
    act();
  }
}
