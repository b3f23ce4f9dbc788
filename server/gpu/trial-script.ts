import { median } from '../../voices/dsp/statistics.ts';
import { constants, setPriority } from 'node:os';
import { Tensor } from 'onnxruntime-node';
import { createSession } from '../../voices/onnx/create-session.ts';
import type { Provider } from '../../voices/onnx/execution.ts';
import { serveProcess } from '../../voices/runtime/process-serve.ts';

/** One trial: a model on a provider, in a separate process because native code may crash it. */
export interface TrialOrder {
  readonly file: string;
  readonly provider: Provider;
  /** Sizes of each input; those that the model lacks are ignored; a number is a 64-bit integer scalar. */
  readonly inputs: Readonly<Record<string, readonly number[] | number>>;
  readonly runs: number;
}

/** First output and median time of a run. */
export interface TrialRun {
  readonly output: readonly number[];
  readonly medianMs: number;
}

const mostValues = 4_096;

/** Deterministic noise. */
function noise(sizes: readonly number[]): Tensor {
  let seed = 1;
  const values = Float32Array.from({ length: sizes.reduce((product, size) => product * size, 1) }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 0.2 * (seed / 2_147_483_647 - 0.5);
  });
  return new Tensor('float32', values, sizes);
}

async function tryOut({ file, provider, inputs, runs }: TrialOrder): Promise<TrialRun> {
  const session = await createSession(file, { executionProviders: [provider], intraOpNumThreads: 1 });
  const feeds = Object.fromEntries(
    Object.entries(inputs)
      .filter(([name]) => session.inputNames.includes(name))
      .map(([name, sizes]) => [
        name,
        typeof sizes === 'number' ? new Tensor('int64', BigInt64Array.of(BigInt(sizes)), []) : noise(sizes),
      ]),
  );
  // The first runs compile and fill caches.
  for (let warmUp = 0; warmUp < 2; warmUp += 1) await session.run(feeds);
  const times: number[] = [];
  let output: readonly number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const startMs = performance.now();
    const made = await session.run(feeds);
    times.push(performance.now() - startMs);
    output = [...((made[session.outputNames[0] ?? '']?.data as Float32Array) ?? [])].slice(0, mostValues);
  }
  return { output, medianMs: median(times) };
}

try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // The system forbids it.
}
serveProcess<undefined, undefined, TrialOrder, TrialRun>({
  load: async () => undefined,
  answer: async (_engine, order, { tell }) => tell(await tryOut(order)),
});
