import { EngineError, type EngineErrorCode } from '../../voices/engine.ts';
import { BudgetReached } from '../limits.ts';
import type { EvalContext } from '../task.ts';
import { askId, type Ask, type AskFailure, type AskResult, type RunFacts } from './run-facts.ts';
import type { Consumer, JobStore } from './store.ts';

/** Asks that are out at a time: enough for many workers, few enough for flat memory. */
export const mostOut = 2_000;
/** Only the coordinator takes results, so one that was killed is missed soon. */
const resultLeaseMs = 5_000;
const silentMs = 5_000;

/** An answered ask. */
export interface Answered {
  readonly value: unknown;
  /** Call it when the result is in the log: until then it stays in Redis. */
  readonly onLogged: () => void;
}

interface Waiting {
  readonly ask: Ask;
  readonly context: AskContext;
  readonly promise: Promise<Answered>;
  readonly resolve: (answered: Answered) => void;
  readonly reject: (fault: unknown) => void;
}

interface Arrived {
  readonly result: AskResult;
  /** Settles when the result is in the log. */
  readonly logged: PromiseWithResolvers<void>;
}

export type AskContext = Pick<EvalContext, 'signal' | 'throwIfStopped' | 'spend'>;

export interface CoordinatorOptions {
  /** US dollars that the run has cost so far. */
  readonly spentDollars: number;
  /** Shows a message for people. */
  readonly note: (text: string) => void;
  /** Command that starts workers, for a message. */
  readonly advice: string;
}

/** A failure on a worker that is no `EngineError`. Its code is that of the failure there, if it had one. */
class FarFailure extends Error {
  override readonly name = 'FarFailure';

  constructor({ code, message }: AskFailure) {
    super(message);
    if (code !== null) Object.assign(this, { code });
  }
}

/**
 * Hands the asks of one run to workers, and takes each result once: a result leaves Redis when it is in the log, and one
 * that comes again is dropped.
 */
export class Coordinator {
  readonly #store: JobStore;
  readonly #facts: RunFacts;
  readonly #options: CoordinatorOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Results of asks that an earlier process made and this one has not made yet. */
  readonly #early = new Map<string, Arrived>();
  /** Results that have been taken and are not in the log yet. */
  readonly #unlogged = new Map<string, Arrived>();
  readonly #settled = new Set<string>();
  #outgoing: Waiting[] = [];
  #results: Consumer | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Why no more asks go out. */
  #stopped: unknown;
  #beating: Promise<void> | undefined;
  #isAnswered = false;
  readonly #startMs = performance.now();
  #hasAdvised = false;

  constructor(store: JobStore, facts: RunFacts, options: CoordinatorOptions) {
    this.#store = store;
    this.#facts = facts;
    this.#options = options;
  }

  async begin(): Promise<void> {
    const { id, leaseMs } = this.#facts;
    // Done for an earlier process of this run: known before anything is asked, so that nothing is asked again.
    for (const result of await this.#store.results(id))
      if (result.stopped === undefined) this.#early.set(result.id, arrivalOf(result));
    await this.#store.raiseSpent(id, this.#options.spentDollars);
    await this.#store.announce(this.#facts);
    this.#results = this.#store.consume(id, 'results', ({ data }) => this.#take(data as AskResult), {
      atOnce: mostOut * 4,
      leaseMs: resultLeaseMs,
      onFault: () => undefined,
    });
    this.#timer = setInterval(() => this.#beat(), Math.min(1_000, leaseMs / 4));
  }

  /** Makes a worker do it. Throws the error of the worker, `BudgetReached`, or `signal.reason`. */
  ask(ask: Ask, context: AskContext): Promise<Answered> {
    const id = askId(ask);
    const known = this.#waiting.get(id);
    if (known !== undefined) return known.promise;
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const waiting: Waiting = { ask, context, promise, resolve, reject };
    this.#waiting.set(id, waiting);
    if (this.#early.has(id)) {
      this.#settle(id);
      return promise;
    }
    const onAbort = (): void => {
      this.#waiting.delete(id);
      reject(context.signal.reason);
    };
    if (context.signal.aborted) onAbort();
    else {
      context.signal.addEventListener('abort', onAbort, { once: true });
      const forget = (): void => context.signal.removeEventListener('abort', onAbort);
      void promise.then(forget, forget);
      this.#send(waiting);
    }
    return promise;
  }

  /** Ends the run's work here. If it is whole, Redis forgets it; otherwise its results wait for the next part. */
  async close({ isWhole }: { readonly isWhole: boolean }): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const { id, kinds } = this.#facts;
    await this.#store.withdraw(id, { isWhole });
    if (!isWhole) await this.#store.drain(id, Object.keys(kinds));
    await this.#results?.close(true);
    if (isWhole) await this.#store.clear(id, Object.keys(kinds));
  }

  #send(waiting: Waiting): void {
    if (this.#outgoing.length === 0) setImmediate(() => void this.#flush());
    this.#outgoing.push(waiting);
  }

  async #flush(): Promise<void> {
    const outgoing = this.#outgoing.filter(({ ask }) => this.#waiting.has(askId(ask)));
    this.#outgoing = [];
    const byKind = Map.groupBy(outgoing, ({ ask }) => ask.kind);
    for (const [kind, group] of byKind) {
      const jobs = group.map(({ ask }) => ({ id: askId(ask), data: ask.work }));
      await this.#store.add({ run: this.#facts.id, kind }, jobs).catch((fault: unknown) => {
        for (const { ask, reject } of group) {
          this.#waiting.delete(askId(ask));
          reject(fault);
        }
      });
    }
  }

  async #take(result: AskResult): Promise<'done'> {
    const { id, stopped } = result;
    this.#isAnswered = true;
    if (stopped !== undefined) {
      // An earlier part of the run may have had less to spend.
      if (stopped.maxDollars === this.#facts.maxDollars) this.#stop(new BudgetReached(stopped.message));
      return 'done';
    }
    const again = this.#early.get(id) ?? this.#unlogged.get(id);
    if (again === undefined && this.#settled.has(id)) return 'done';
    const arrived = again ?? arrivalOf(result);
    if (again === undefined) {
      this.#early.set(id, arrived);
      this.#settle(id);
    }
    await arrived.logged.promise;
    return 'done';
  }

  /** Gives a result to the ask that waits for it, once both have arrived. */
  #settle(id: string): void {
    const waiting = this.#waiting.get(id);
    const arrived = this.#early.get(id);
    if (waiting === undefined || arrived === undefined) return;
    this.#waiting.delete(id);
    this.#early.delete(id);
    const { result, logged } = arrived;
    this.#settled.add(id);
    this.#unlogged.set(id, arrived);
    const onLogged = (): void => {
      this.#unlogged.delete(id);
      logged.resolve();
    };
    waiting.context.spend(result.dollars);
    if (result.failure === undefined) waiting.resolve({ value: result.value, onLogged });
    else waiting.reject(Object.assign(faultOf(result.failure), { onLogged }));
    this.#check();
  }

  /** Stops as soon as the run's limits say so, and not only when the next ask is made. */
  #check(): void {
    const [any] = this.#waiting.values();
    try {
      any?.context.throwIfStopped();
    } catch (fault) {
      this.#stop(fault);
    }
  }

  #stop(fault: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = fault;
    this.#beat();
  }

  /** Takes back asks that no worker has begun; results of asks in progress still arrive. */
  async #recall(fault: unknown): Promise<void> {
    await Promise.all(
      [...this.#waiting].map(async ([id, { ask, reject }]) => {
        if (!(await this.#store.remove(this.#facts.id, ask.kind, id))) return;
        this.#waiting.delete(id);
        reject(fault);
      }),
    );
  }

  #beat(): void {
    this.#beating ??= this.#beatOnce()
      .catch(() => undefined)
      .finally(() => (this.#beating = undefined));
  }

  async #beatOnce(): Promise<void> {
    const { id } = this.#facts;
    this.#check();
    if (!(await this.#store.renew(this.#facts))) {
      // Redis has lost its data, or this process has slept.
      await this.#store.announce(this.#facts);
      for (const waiting of this.#waiting.values()) this.#send(waiting);
    }
    if (this.#stopped !== undefined) await this.#recall(this.#stopped);
    const refusal = await this.#store.nextRefusal(id);
    if (refusal !== null) this.#options.note(refusal);
    const isSilent = !this.#isAnswered && performance.now() - this.#startMs > silentMs;
    if (!isSilent || this.#hasAdvised) return;
    this.#hasAdvised = true;
    this.#options.note(this.#options.advice);
  }
}

/** True for a failure on a worker: it is a result, which is to be logged like others. */
export function isAnswered(fault: unknown): fault is Error & Pick<Answered, 'onLogged'> {
  return fault instanceof Error && 'onLogged' in fault;
}

function arrivalOf(result: AskResult): Arrived {
  return { result, logged: Promise.withResolvers<void>() };
}

function faultOf(failure: AskFailure): Error {
  const { code, engine } = failure;
  if (engine === undefined) return new FarFailure(failure);
  return new EngineError(engine.name, code as EngineErrorCode, engine.detail);
}
