import { setTimeout as pause } from 'node:timers/promises';
import { EngineError, type CallOptions, type EngineErrorCode } from '../engine.ts';
import { untilAborted } from '../runtime/streams.ts';
import type { ResolvedCallPolicy } from './call-policy.ts';
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts';
import { Preempted, openLimiter, type Limiter } from './limiter.ts';

/** Options passed to a request. */
export interface RequestOptions extends CallOptions {
  /** Usage counters that the request fills in as they become known. */
  readonly meter: Meter;
}

/** Usage of a call, other than time. */
export interface Meter {
  inputTokens?: number;
  outputTokens?: number;
  /** Length of text sent for synthesis, in UTF-16 units. */
  characters?: number;
  /** Duration of audio recognized or synthesized. */
  audioSeconds?: number;
  /** Id of the cloned voice, and the consent for it. */
  clone?: { readonly voice: string; readonly consent: string };
}

/** Cost of one call; contains no content. */
export interface CallCost extends Meter {
  readonly engine: string;
  readonly outcome: 'ok' | 'aborted' | EngineErrorCode;
  /** Time in the queue; not included in `ms`. */
  readonly queuedMs: number;
  readonly ms: number;
  /** Time to the first part; absent if none came. */
  readonly firstMs?: number;
  readonly tries: number;
}

/** Health of an engine and counters of its calls. */
export interface CallsHealth {
  /** `failing`: its last call failed. `circuit_open`: several did, and the circuit breaker is open. */
  readonly state: 'ok' | 'failing' | 'circuit_open';
  readonly running: number;
  readonly waiting: number;
  readonly calls: number;
  readonly failures: number;
  readonly lastFailure?: EngineErrorCode;
}

export interface CallsOptions extends CallOptions {
  /** Owner of several calls, e.g. one reply; see `Limiter`. */
  readonly owner?: object;
  /** Waits, without a timeout, until no other call runs; cut off with `GaveWay` when a foreground call arrives. */
  readonly background?: boolean | undefined;
}

/** Calls to one engine, the only way it is called: queue, timeouts, circuit breaker, retries, cost log. */
export interface Calls {
  readonly name: string;
  /** True if a call would have to wait. */
  readonly isFull: boolean;
  readonly circuit: CircuitBreaker;
  /**
   * Makes one call: waits for a free place, fails fast while the circuit breaker is open, and retries as long as
   * nothing was delivered. Throws `EngineError`, or `signal.reason` at once when aborted; on abort, and when the reader
   * leaves, the request's signal is aborted.
   */
  stream<Part>(request: (options: RequestOptions) => AsyncIterable<Part>, options: CallsOptions): AsyncGenerator<Part>;
  /** Like `stream`, for a call with a single result. */
  once<Result>(request: (options: RequestOptions) => Promise<Result>, options: CallsOptions): Promise<Result>;
  health(): CallsHealth;
}

const usualPauseMs = 200;
/** If a server asks for a longer delay, the call is not retried, because a user is waiting. */
const longestPauseMs = 2_000;

/** Opens the calls of one engine. `log` receives the cost of each call. */
export function openCalls(name: string, policy: ResolvedCallPolicy, options: CallsSettings = {}): Calls {
  return new EngineCalls(name, policy, options);
}

export interface CallsSettings {
  readonly log?: ((cost: CallCost) => void) | undefined;
  readonly circuit?: CircuitBreaker;
  /** False: the caller consults the circuit breaker and reports outcomes to it. */
  readonly gated?: boolean | undefined;
}

class EngineCalls implements Calls {
  readonly name: string;
  readonly circuit: CircuitBreaker;
  readonly #policy: ResolvedCallPolicy;
  readonly #log: ((cost: CallCost) => void) | undefined;
  readonly #limiter: Limiter;
  readonly #gated: boolean;
  #calls = 0;
  #failures = 0;
  #isFailing = false;
  #lastFailure: EngineErrorCode | undefined;

  constructor(
    name: string,
    policy: ResolvedCallPolicy,
    { circuit = createCircuitBreaker(policy), gated = true, log }: CallsSettings,
  ) {
    this.name = name;
    this.circuit = circuit;
    this.#policy = policy;
    this.#log = log;
    this.#gated = gated;
    this.#limiter = openLimiter(policy.concurrency);
  }

  get isFull(): boolean {
    return this.#limiter.running >= this.#limiter.most;
  }

  async *stream<Part>(
    request: (options: RequestOptions) => AsyncIterable<Part>,
    options: CallsOptions,
  ): AsyncGenerator<Part> {
    options.signal.throwIfAborted();
    const parts = (): AsyncGenerator<Part> => this.#queued(request, options);
    yield* this.#gated ? this.circuit.attempt(this.name, parts, options) : parts();
  }

  async *#queued<Part>(
    request: (options: RequestOptions) => AsyncIterable<Part>,
    { signal, owner = {}, background = false }: CallsOptions,
  ): AsyncGenerator<Part> {
    const run = new ActiveCall(signal);
    let leave: (() => void) | undefined;
    try {
      const { queueMs, wholeMs } = this.#policy.timeouts;
      const full = `all ${this.#policy.concurrency} concurrent calls are in use`;
      if (!background) run.limit(queueMs, this.#fault(full, 'ENGINE_UNAVAILABLE'));
      const giveWay = background ? (): void => run.cut(new Preempted('a conversation needs the engine')) : undefined;
      leave = await this.#limiter.enter({ signal: run.signal, owner, giveWay });
      run.begin();
      run.limit(wholeMs, this.#fault(`the call did not finish within ${wholeMs / 1_000} s`, 'ENGINE_TIMEOUT'));
      yield* this.#tries(run, request);
      run.outcome = 'ok';
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Preempted) throw cause;
      run.outcome = cause instanceof EngineError ? cause.code : 'ENGINE_BAD_REPLY';
      throw cause;
    } finally {
      run.end();
      const { graceMs } = this.#policy;
      if (leave !== undefined && run.outcome === 'aborted' && graceMs > 0) setTimeout(leave, graceMs).unref();
      else leave?.();
      this.#conclude(run);
    }
  }

  async once<Result>(request: (options: RequestOptions) => Promise<Result>, options: CallsOptions): Promise<Result> {
    async function* single(inner: RequestOptions): AsyncGenerator<{ readonly result: Result }> {
      yield { result: await request(inner) };
    }
    const [only] = await Array.fromAsync(this.stream(single, options));
    return (only as { readonly result: Result }).result;
  }

  health(): CallsHealth {
    return {
      state: this.circuit.openBecause() !== undefined ? 'circuit_open' : this.#isFailing ? 'failing' : 'ok',
      running: this.#limiter.running,
      waiting: this.#limiter.waiting,
      calls: this.#calls,
      failures: this.#failures,
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  async *#tries<Part>(
    run: ActiveCall,
    request: (options: RequestOptions) => AsyncIterable<Part>,
  ): AsyncGenerator<Part> {
    const options = { signal: run.signal, meter: run.meter };
    for (;;) {
      run.tries += 1;
      try {
        for await (const part of untilAborted(request(options), options)) {
          run.noteFirst();
          yield part;
        }
        return;
      } catch (cause) {
        run.signal.throwIfAborted();
        const mayTryAgain = run.firstMs === undefined && run.tries <= this.#policy.retries;
        const pauseMs = mayTryAgain ? pauseBeforeNext(cause) : undefined;
        if (pauseMs === undefined) throw cause;
        await pause(pauseMs, undefined, options).catch(() => options.signal.throwIfAborted());
      }
    }
  }

  #fault(detail: string, code: EngineErrorCode): EngineError {
    return new EngineError(this.name, code, detail);
  }

  #conclude(run: ActiveCall): void {
    const { outcome } = run;
    this.#calls += 1;
    if (outcome !== 'aborted') this.#isFailing = outcome !== 'ok';
    if (outcome !== 'aborted' && outcome !== 'ok') {
      this.#failures += 1;
      this.#lastFailure = outcome;
    }
    this.#log?.({ engine: this.name, ...run.cost() });
  }
}

/** One call in progress: its clock, its meter, and what can end it early. */
class ActiveCall {
  readonly meter: Meter = {};
  readonly signal: AbortSignal;
  outcome: CallCost['outcome'] = 'aborted';
  tries = 0;
  firstMs: number | undefined;
  readonly #cut = new AbortController();
  readonly #enteredMs = performance.now();
  #begunMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#cut.signal]);
  }

  /** Ends the call with `fault` after `ms`; replaces the previous limit. */
  limit(ms: number, fault: EngineError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#cut.abort(fault), ms);
  }

  cut(reason: Error): void {
    this.#cut.abort(reason);
  }

  begin(): void {
    this.#begunMs = performance.now();
  }

  noteFirst(): void {
    this.firstMs ??= performance.now() - (this.#begunMs ?? this.#enteredMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#cut.abort(new Error('the call has ended'));
  }

  cost(): Omit<CallCost, 'engine'> {
    const endMs = performance.now();
    const begunMs = this.#begunMs ?? endMs;
    const { outcome, tries, firstMs, meter } = this;
    return {
      outcome,
      queuedMs: Math.round(begunMs - this.#enteredMs),
      ms: Math.round(endMs - begunMs),
      ...(firstMs === undefined ? {} : { firstMs: Math.round(firstMs) }),
      tries,
      ...meter,
    };
  }
}

/** Delay before the next try of a failed call, in milliseconds; undefined if a retry would not help. */
export function pauseBeforeNext(cause: unknown): number | undefined {
  if (!(cause instanceof EngineError) || !cause.retryable) return undefined;
  const { retryAfterMs = usualPauseMs } = cause;
  return retryAfterMs <= longestPauseMs ? retryAfterMs : undefined;
}
