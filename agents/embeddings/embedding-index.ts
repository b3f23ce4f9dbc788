import { openCircuit, type Circuit } from '../../voices/calls/circuit.ts';
import { EngineError, type CallOptions } from '../../voices/engine.ts';
import type { Embedder } from './embedder.ts';

/** The meanings of one server: of what is kept, in the background; and of what was just said, in time or not at all. */
export interface Meanings {
  /** Points of one model are comparable with each other alone. */
  readonly model: string;
  /** One point for each text, in their order; the texts of all who ask take turns, a batch at a time. Throws as the embedder does. */
  embed(texts: readonly string[], options: CallOptions): Promise<readonly Float32Array[]>;
  /**
   * The point of a remark, asked for once by whoever looks for what bears on it; undefined where it is late, the embedder fails, or
   * it rests after failures. Throws `signal.reason` alone.
   */
  pointOf(remark: string, options: CallOptions): Promise<Float32Array | undefined>;
  /** Gives up what is asked for in the background. */
  close(): void;
}

/** Somebody waits for the answer: no reply is delayed by more, however many look for what bears on the remark. */
export const longestWaitMs = 250;
/** Remarks whose points are kept: drafts, corrections and the two who ask in a turn want them again. */
const mostKept = 256;
const batchSize = 64;

/** `circuit`: slowness is a failure too, so that of a slow embedder only two remarks in half a minute wait. */
export function openMeanings(embedder: Embedder, circuit: Circuit = openCircuit()): Meanings {
  const kept = new Map<string, Promise<Float32Array | undefined>>();
  const closed = new AbortController();
  let lastBatch: Promise<unknown> = Promise.resolve();

  const ask = async (remark: string): Promise<Float32Array | undefined> => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), longestWaitMs);
    try {
      const [point] = await embedder.embed([remark], { signal: late.signal });
      circuit.succeeded();
      return point;
    } catch (fault) {
      circuit.failed(fault instanceof EngineError ? fault.code : 'ENGINE_TIMEOUT');
      kept.delete(remark);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    model: embedder.model,
    async embed(texts, options) {
      const signal = AbortSignal.any([options.signal, closed.signal]);
      const points: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += batchSize) {
        const batch = texts.slice(from, from + batchSize);
        const embedded = lastBatch.then(() => {
          signal.throwIfAborted();
          return embedder.embed(batch, { signal });
        });
        lastBatch = embedded.catch(() => undefined);
        points.push(...(await embedded));
      }
      return points;
    },
    async pointOf(remark, { signal }) {
      signal.throwIfAborted();
      const known = kept.get(remark);
      if (known === undefined && circuit.enter() !== undefined) return undefined;
      const asked = known ?? ask(remark);
      kept.delete(remark);
      kept.set(remark, asked);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return unlessAborted(asked, signal);
    },
    close: () => closed.abort(new Error('the server is closed')),
  };
}

/** Whoever leaves does not end the call: it takes a moment at most, and the next who asks has its point. */
function unlessAborted<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
