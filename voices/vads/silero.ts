import path from 'node:path';
import { EngineError } from '../engine.ts';
import type { Vad, VadStream } from '../vad.ts';
import { openWorkerPool, type WorkerPool } from '../runtime/worker-pool.ts';

/** Start-up data of the worker; sizes are per window. */
export interface SileroWorkerData {
  readonly modelPath: string;
  readonly sampleRate: number;
  readonly inputSamples: number;
  readonly stateSize: number;
}

/**
 * Batch with one window each of `count` streams. `inputs` holds them one after the other, each behind its context;
 * `states` is `[2, count, 128]`, and the worker writes the new states in their place. Both have room for a full batch.
 * They are shared memory, because V8 counts buffers transferred between threads as new allocations, and would run a
 * full garbage collection every few dozen batches.
 */
export interface SileroBatch {
  readonly count: number;
  readonly inputs: SharedFloats;
  readonly states: SharedFloats;
}

type SharedFloats = Float32Array<SharedArrayBuffer>;

/** One probability per window. */
export interface SileroScores {
  readonly probabilities: Float32Array<ArrayBuffer>;
}

export interface SileroOptions {
  /** Default: our graph. Silero's own v5 or v6 file runs at several times the cost: the reference for ours in tests. */
  readonly modelPath?: string;
  /** Another worker that takes `SileroBatch` and answers `SileroScores`: for tests of failure. */
  readonly workerUrl?: URL;
}

/** Our graph with the weights of Silero v6 for 16 kHz, made by `test/voices/vads/silero-graph.ts`. */
export const sileroModelPath = path.join(import.meta.dirname, 'silero-v6-16khz.onnx');

const name = 'silero';
const sampleRate = 16_000;
const windowSamples = 512;
/** The model needs the end of the last window before each window; without it, it detects no speech. */
const contextSamples = 64;
const inputSamples = contextSamples + windowSamples;
const stateSize = 256;
const halfState = stateSize / 2;
/** Bounds the time of a batch, and so the time a window waits for the previous one. */
const maxBatch = 128;
const windowMs = (windowSamples / sampleRate) * 1000;
/** With `crowd` streams, batches begin at least `gatherMs` apart: a message to the worker costs a dozen windows. */
const crowd = 24;
const gatherMs = 4;
/** Streams are concurrent if they have had a window within this time. */
const presenceMs = 2 * windowMs;

/**
 * Opens Silero VAD v6 in one worker thread. The windows of all streams that arrive together, or while the worker is
 * busy, are scored in one run, which costs far less than one run each; with many streams a window waits up to 4 ms for
 * others. The model loads with the first window.
 *
 * A window is read after `score` has returned, so its buffer must not be reused before the promise settles. If the
 * worker dies, its windows fail with `ENGINE_UNAVAILABLE`, and their streams continue with a fresh state.
 */
export function openSilero(options: SileroOptions = {}): Vad & { close(): Promise<void> } {
  const modelPath = options.modelPath ?? sileroModelPath;
  const pool = openWorkerPool<SileroBatch, SileroScores>({
    name,
    url: options.workerUrl ?? new URL('./silero-worker.ts', import.meta.url),
    size: 1,
    finishMs: 2_000,
    workerData: { modelPath, sampleRate, inputSamples, stateSize } satisfies SileroWorkerData,
  });
  const batcher = new Batcher(pool);
  return { name, sampleRate, windowSamples, open: () => new Stream(batcher), close: () => pool.close() };
}

interface Pending {
  readonly window: Float32Array;
  readonly resolve: (probability: number) => void;
  readonly reject: (reason: unknown) => void;
}

class Stream implements VadStream {
  /** Number of the period in which the stream was last counted. */
  countedIn = 0;
  readonly #batcher: Batcher;
  /** Waiting windows, oldest first; the model needs the state after one before it can score the next. */
  readonly #waiting: Pending[] = [];
  /** Window that the worker is scoring. */
  #scoring: Pending | undefined;
  readonly #context = new Float32Array(contextSamples);
  readonly #state = new Float32Array(stateSize);
  #closed = false;

  constructor(batcher: Batcher) {
    this.#batcher = batcher;
  }

  score(window: Float32Array): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new EngineError(name, 'ENGINE_UNAVAILABLE', 'the stream is closed'));
      if (window.length !== windowSamples) {
        const detail = `a window must have ${windowSamples} samples, not ${window.length}`;
        return reject(new EngineError(name, 'ENGINE_REFUSED', detail));
      }
      this.#waiting.push({ window, resolve, reject });
      this.#batcher.add(this);
    });
  }

  close(): void {
    this.#closed = true;
    this.#batcher.remove(this);
    const gone = new EngineError(name, 'ENGINE_UNAVAILABLE', 'the stream is closed');
    for (const pending of this.#waiting.splice(0)) pending.reject(gone);
    this.#scoring?.reject(gone);
  }

  /** Packs the oldest waiting window at index `place` of `batch`. */
  pack(batch: SileroBatch, place: number): void {
    const pending = this.#waiting.shift() as Pending;
    this.#scoring = pending;
    const offset = place * inputSamples;
    batch.inputs.set(this.#context, offset);
    batch.inputs.set(pending.window, offset + contextSamples);
    batch.states.set(this.#state.subarray(0, halfState), place * halfState);
    batch.states.set(this.#state.subarray(halfState), (batch.count + place) * halfState);
  }

  /** Takes the result at index `place` of `batch`. */
  take({ count, inputs, states }: SileroBatch, place: number, probability: number): void {
    const offset = place * inputSamples;
    this.#context.set(inputs.subarray(offset + windowSamples, offset + inputSamples));
    const half = count * halfState;
    this.#state.set(states.subarray(place * halfState, (place + 1) * halfState));
    this.#state.set(states.subarray(half + place * halfState, half + (place + 1) * halfState), halfState);
    this.#scoring?.resolve(probability);
    this.#goOn();
  }

  fail(reason: unknown): void {
    this.#context.fill(0);
    this.#state.fill(0);
    this.#scoring?.reject(reason);
    this.#goOn();
  }

  #goOn(): void {
    this.#scoring = undefined;
    if (this.#waiting.length > 0) this.#batcher.add(this);
  }
}

/** Collects the streams that have a window waiting, and gives the worker one window of each at a time. */
class Batcher {
  readonly #pool: WorkerPool<SileroBatch, SileroScores>;
  readonly #ready = new Set<Stream>();
  /** Streams of the current batch, by index. */
  readonly #scoring: Stream[] = [];
  readonly #never = new AbortController().signal;
  #running = false;
  #begunMs = 0;
  /** Number of active streams in the last whole period, and in the current one so far. */
  #there = 0;
  #present = 0;
  #period = 1;
  #periodFromMs = 0;
  readonly #inputs = sharedFloats(maxBatch * inputSamples);
  readonly #states = sharedFloats(maxBatch * stateSize);

  constructor(pool: WorkerPool<SileroBatch, SileroScores>) {
    this.#pool = pool;
  }

  add(stream: Stream): void {
    this.#ready.add(stream);
    this.#count(stream);
    if (this.#running) return;
    this.#running = true;
    this.#goOn();
  }

  remove(stream: Stream): void {
    this.#ready.delete(stream);
  }

  /** Counts the active streams of each period. */
  #count(stream: Stream): void {
    const nowMs = performance.now();
    if (nowMs - this.#periodFromMs >= presenceMs) {
      this.#there = this.#present;
      this.#present = 0;
      this.#period += 1;
      this.#periodFromMs = nowMs;
    }
    if (stream.countedIn === this.#period) return;
    stream.countedIn = this.#period;
    this.#present += 1;
  }

  #goOn(): void {
    this.#running = this.#ready.size > 0;
    // Not a microtask: windows that other sockets deliver in this turn of the event loop should join the batch.
    if (this.#running) setImmediate(() => this.#begin());
  }

  /** Scores the waiting windows, after a short wait if more are expected. */
  #begin(): void {
    const run = (): void => void this.#score().then(() => this.#goOn());
    const waitMs = this.#begunMs + gatherMs - performance.now();
    const comesMeanwhile = Math.min(maxBatch, (this.#there * gatherMs) / windowMs);
    if (this.#there >= crowd && this.#ready.size < comesMeanwhile && waitMs > 0) setTimeout(run, waitMs);
    else run();
  }

  async #score(): Promise<void> {
    const streams = this.#scoring;
    this.#begunMs = performance.now();
    const batch = { count: Math.min(this.#ready.size, maxBatch), inputs: this.#inputs, states: this.#states };
    for (const stream of this.#ready) {
      if (streams.length === batch.count) break;
      this.#ready.delete(stream);
      stream.pack(batch, streams.length);
      streams.push(stream);
    }
    try {
      const { probabilities } = await this.#pool.call(batch, { signal: this.#never });
      for (const [place, stream] of streams.entries()) stream.take(batch, place, probabilities[place] as number);
    } catch (reason) {
      for (const stream of streams) stream.fail(reason);
    }
    streams.length = 0;
  }
}

function sharedFloats(length: number): SharedFloats {
  return new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
}
