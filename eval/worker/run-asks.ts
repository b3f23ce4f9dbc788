import { randomUUID } from 'node:crypto';
import { EngineError } from '../../voices/engine.ts';
import { mostDeaths, type AskFailure, type AskResult, type RunFacts } from '../jobs/run-facts.ts';
import type { Consumer, Delivered, JobStore, Verdict } from '../jobs/store.ts';
import { BudgetReached } from '../limits.ts';
import type { AskFigures, AskOutcome } from './ask-figures.ts';
import type { OpenedWork } from './open-run.ts';

export interface RunAsksOptions {
  readonly store: JobStore;
  readonly facts: RunFacts;
  readonly opened: OpenedWork;
  /** Most asks of a kind at a time; the run's own number if absent. */
  readonly atOnce: number | undefined;
  /** Aborted when the worker gives back its work. */
  readonly signal: AbortSignal;
  readonly figures?: AskFigures | undefined;
  readonly onFault: (fault: Error) => void;
}

/** Does the asks of one run, and adds their results for its coordinator. */
export class RunAsks {
  readonly #options: RunAsksOptions;
  readonly #consumers: readonly Consumer[];
  /** US dollars that the run has cost, on all workers together, as far as this one knows. */
  #spent = 0;
  #hasStopped = false;

  constructor(options: RunAsksOptions) {
    this.#options = options;
    const { store, facts, atOnce = Infinity, onFault } = options;
    this.#consumers = Object.entries(facts.kinds).map(([kind, places]) =>
      store.consume(facts.id, kind, (job) => this.#counted(kind, job), {
        atOnce: Math.min(atOnce, places.atOnce),
        leaseMs: facts.leaseMs,
        onFault,
      }),
    );
  }

  /** Takes no more asks, finishes or gives back those that it has, and closes the run. */
  async close(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.close()));
    await this.#options.opened.close();
    const { store, facts } = this.#options;
    if (await store.hasEnded(facts.id)) await store.clear(facts.id, Object.keys(facts.kinds));
  }

  async #counted(kind: string, job: Delivered): Promise<Verdict> {
    const startMs = performance.now();
    const outcome = await this.#do(kind, job);
    this.#options.figures?.note(kind, outcome, (performance.now() - startMs) / 1_000, job.deaths > 0);
    return outcome === 'given_back' ? 'back' : 'done';
  }

  async #do(kind: string, { id, data, deaths }: Delivered): Promise<AskOutcome> {
    const { store, facts, opened, signal } = this.#options;
    if (signal.aborted) return 'given_back';
    if (deaths >= mostDeaths) {
      await store.addResult(facts.id, { id, dollars: 0, failure: deadlyAsk });
      return 'failed';
    }
    let dollars = 0;
    const told: Promise<void>[] = [];
    const tell = async (cost: number): Promise<void> => {
      this.#spent = await store.spend(facts.id, cost);
    };
    const spend = (cost: number): void => {
      dollars += cost;
      this.#spent += cost;
      this.#options.figures?.spend(cost);
      if (cost > 0) told.push(tell(cost));
    };
    let result: AskResult;
    try {
      // The spending of other workers is known before anything is spent here.
      if (facts.maxDollars !== null) await tell(0);
      const throwIfStopped = (): void => this.#throwIfStopped();
      throwIfStopped();
      const value = await opened.work(kind, data, { signal, throwIfStopped, spend });
      result = { id, value, dollars };
    } catch (fault) {
      if (signal.aborted) return 'given_back';
      if (fault instanceof BudgetReached) {
        await Promise.all(told);
        await this.#stop(fault.message);
        return 'given_back';
      }
      result = { id, dollars, ...failed(fault) };
    }
    await Promise.all(told);
    await store.addResult(facts.id, result);
    return result.failure === undefined ? 'ok' : 'failed';
  }

  /** Takes nothing more, and says so: the run ends, or continues with other facts. */
  async #stop(message: string): Promise<void> {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    const { store, facts, onFault } = this.#options;
    for (const consumer of this.#consumers) consumer.close().catch(onFault);
    const stopped = { message, maxDollars: facts.maxDollars };
    await store.addResult(facts.id, { id: `stopped-${randomUUID()}`, dollars: 0, stopped });
  }

  #throwIfStopped(): void {
    const { facts, signal } = this.#options;
    signal.throwIfAborted();
    const { maxDollars } = facts;
    if (maxDollars !== null && this.#spent >= maxDollars)
      throw new BudgetReached(`--max-cost ${maxDollars} is used up`);
  }
}

const deadly = `${mostDeaths} workers died or hung during this. Read what they printed, and resume the run to try it again.`;
const deadlyAsk: AskFailure = {
  code: 'ENGINE_UNAVAILABLE',
  message: `worker: ${deadly}`,
  engine: { name: 'worker', detail: deadly },
};

function failed(fault: unknown): { readonly failure: AskFailure } {
  if (!(fault instanceof Error)) return { failure: { code: null, message: String(fault) } };
  const { message } = fault;
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : null;
  if (!(fault instanceof EngineError)) return { failure: { code, message } };
  const name = message.slice(0, message.length - fault.detail.length - 2);
  return { failure: { code, message, engine: { name, detail: fault.detail } } };
}
