import type { RunHeader } from '../../eval/run-log.ts';
import type { Task } from '../../eval/task.ts';

export const plainHeader: RunHeader = {
  event: 'run',
  log: 1,
  at: '2026-01-01T00:00:00Z',
  task: { name: 'counting', version: 1 },
  versions: { dramatis: '0', node: '24' },
  commit: null,
  config: {},
  models: {},
  prompts: {},
  seeds: {},
  data: { hash: 'none', samples: 0 },
};

/** A benchmark that doubles numbers; each is measured twice. `calls` records everything it did. */
export function countingTask(
  count: number,
  hooks: { solve?: (id: string) => void | Promise<void>; measure?: (what: string) => void | Promise<void> } = {},
): Task<number, null, number> & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    name: 'counting',
    version: 1,
    async *samples() {
      for (let index = 0; index < count; index += 1)
        yield { id: `s${index}`, group: `g${index % 3}`, input: index, target: null };
    },
    describe: (sample) => ({ input: sample.input }),
    async solve(sample, context) {
      context.throwIfStopped();
      calls.push(sample.id);
      await hooks.solve?.(sample.id);
      return sample.input * 2;
    },
    scorers: [
      {
        name: 'size',
        measurementKeys: () => ['a', 'b'],
        async measure(ask, { sample, output }, context) {
          context.throwIfStopped();
          calls.push(`${sample.id}/${ask}`);
          await hooks.measure?.(`${sample.id}/${ask}`);
          context.spend(0.01);
          return { ask, output };
        },
        score: (_solved, measured) => [{ name: 'size', value: measured.size }],
      },
    ],
  };
}
