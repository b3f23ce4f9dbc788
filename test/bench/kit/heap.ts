import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { summarize, type BenchRow } from './stats.ts';

const everyMs = 2_000;

/** Samples the heap after garbage collection, from now on. */
export function sampleHeap(): HeapSampler {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const mebibytes: number[] = [];
  const sampler = setInterval(() => {
    collectGarbage();
    mebibytes.push(process.memoryUsage().heapUsed / 2 ** 20);
  }, everyMs);
  return {
    stop: () => clearInterval(sampler),
    *rows(bench) {
      const half = mebibytes.length >> 1;
      yield summarize(bench, 'heap after collection, first half', 'MiB', mebibytes.slice(0, half));
      yield summarize(bench, 'heap after collection, second half', 'MiB', mebibytes.slice(half));
    },
  };
}

interface HeapSampler {
  stop(): void;
  /** Rows of the first and the second half of the time, in MiB: they are equal if nothing leaks. */
  rows(bench: string): Iterable<BenchRow>;
}
