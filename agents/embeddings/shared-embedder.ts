import { createCircuitBreaker, type CircuitBreaker } from '../../voices/calls/circuit-breaker.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { Embedder } from './embedder.ts';

/** Embedder of one server: bulk embedding in the background, and user messages within a deadline. */
export interface SharedEmbedder {
  /** Model name; embeddings are comparable only within one model. */
  readonly model: string;
  /** One embedding for each text, in order; callers take turns, a batch at a time. Throws as the embedder does. */
  embed(texts: readonly string[], options: CallOptions): Promise<readonly Float32Array[]>;
  /** Computed once for all callers; undefined if late, failed or blocked (breaker). Throws only `signal.reason`. */
  embeddingOf(text: string, options: CallOptions): Promise<Float32Array | undefined>;
  /** Aborts background work. */
  close(): void;
}

/** Longest wait for the embedding of a user message: no reply is delayed by more, however many callers ask for it. */
export const longestWaitMs = 250;
/** Cached user messages: speculative replies, corrections and the two callers in a turn ask for them again. */
const mostKept = 256;
const batchSize = 64;

/** `circuit`: slowness counts as failure, so that a slow embedder delays only two messages in half a minute. */
export function openSharedEmbedder(
  embedder: Embedder,
  circuit: CircuitBreaker = createCircuitBreaker(),
): SharedEmbedder {
  const kept = new Map<string, Promise<Float32Array | undefined>>();
  const closed = new AbortController();
  let lastBatch: Promise<unknown> = Promise.resolve();

  const ask = async (text: string): Promise<Float32Array | undefined> => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), longestWaitMs);
    try {
      const [embedding] = await embedder.embed([text], { signal: late.signal });
      circuit.succeeded();
      return embedding;
    } catch (fault) {
      circuit.failed(fault instanceof EngineError ? fault.code : 'ENGINE_TIMEOUT');
      kept.delete(text);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    model: embedder.model,
    async embed(texts, options) {
      const signal = AbortSignal.any([options.signal, closed.signal]);
      const embeddings: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += batchSize) {
        const batch = texts.slice(from, from + batchSize);
        const embedded = lastBatch.then(() => {
          signal.throwIfAborted();
          return embedder.embed(batch, { signal });
        });
        lastBatch = embedded.catch(() => undefined);
        embeddings.push(...(await embedded));
      }
      return embeddings;
    },
    async embeddingOf(text, { signal }) {
      signal.throwIfAborted();
      const known = kept.get(text);
      if (known === undefined && circuit.enter() !== undefined) return undefined;
      const asked = known ?? ask(text);
      kept.delete(text);
      kept.set(text, asked);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return unlessAborted(asked, signal);
    },
    close: () => closed.abort(new Error('the server is closed')),
  };
}

/** An aborted caller does not cancel the call: it is short, and the next caller can use its result. */
function unlessAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
