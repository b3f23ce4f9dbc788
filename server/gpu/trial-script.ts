import { readFileSync } from 'node:fs';
import { Tensor } from 'onnxruntime-node';
import { createSession } from '../../voices/onnx/create-session.ts';
import { lineOf } from '../../voices/onnx/fault-line.ts';
import type { ExecutedModel, Provider } from '../../voices/onnx/execution.ts';
import { sileroGraph } from '../../voices/vads/silero-graph.ts';

/** One model on one provider, in a process of its own, since native code may end it. Prints a `TrialResult` as JSON. */
export interface TrialOrder {
  readonly model: ExecutedModel;
  readonly file: string;
  readonly provider: Provider;
  /** Sizes of each input; those that the model does not have are left out; what is a number is a 64-bit scalar of that value. */
  readonly inputs: Readonly<Record<string, readonly number[] | number>>;
  /** Timed runs. */
  readonly runs: number;
}

/** What came of it: the first output, and the middle time of a run. */
export type TrialResult = { readonly output: readonly number[]; readonly medianMs: number } | { readonly why: string };

const mostValues = 4_096;

/** The same noise every time. */
function noise(sizes: readonly number[]): Tensor {
  let seed = 1;
  const values = Float32Array.from({ length: sizes.reduce((product, size) => product * size, 1) }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 0.2 * (seed / 2_147_483_647 - 0.5);
  });
  return new Tensor('float32', values, sizes);
}

/** What runs of a file: Silero's is rewritten. */
function served({ model, file }: TrialOrder): string | Uint8Array {
  return (model === 'silero' ? sileroGraph(readFileSync(file)) : undefined) ?? file;
}

async function tryOut(order: TrialOrder): Promise<TrialResult> {
  const { provider, inputs, runs } = order;
  const session = await createSession(served(order), { executionProviders: [provider], intraOpNumThreads: 1 });
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
  return { output, medianMs: times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0 };
}

const result = await tryOut(JSON.parse(process.argv[2] ?? '{}') as TrialOrder).catch((fault: unknown): TrialResult => {
  return { why: lineOf(fault) };
});
process.stdout.write(JSON.stringify(result));
