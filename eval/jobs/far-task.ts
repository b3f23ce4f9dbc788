import { z } from 'zod';
import type { LineWriter, LogLine, RunLog } from '../run-log.ts';
import type { EvalContext, Scorer, Task } from '../task.ts';
import { isAnswered, type Answered, type Coordinator } from './coordinator.ts';
import type { AskPlaces } from './run-facts.ts';

/** Kind of the asks of the system under test. */
export const solveKind = 'solve';

/** Kind of the asks of a scorer. */
export function measureKind(scorer: string): string {
  return `measure-${scorer.replaceAll(/[^\w-]/g, '_')}`;
}

/** Input of a worker besides the ask's kind. */
export const evalWork = z.object({ sample: z.string(), ask: z.string().optional(), output: z.unknown().optional() });

/** Limits of the endpoints, as the configurations of all benchmarks name them. */
const limits = z.looseObject({
  agent: z.string(),
  agentConcurrency: z.number().default(4),
  judge: z.looseObject({ concurrency: z.number() }).optional(),
});

/** Name of the scorers that ask the run's judge; others measure in the worker itself. */
const judgeScorer = 'judge';

/** Places for the asks of a task. A system that workers start themselves (`ours`) has its places in each of them. */
export function placesOf(
  task: Pick<Task<never, never, never>, 'scorers'>,
  config: unknown,
): Readonly<Record<string, AskPlaces>> {
  const { agent, agentConcurrency, judge } = limits.parse(config);
  const isEach = agent === 'ours' || agent.startsWith('outputs:');
  const scorers = task.scorers.map(({ name }): [string, AskPlaces] => [
    measureKind(name),
    name === judgeScorer && judge !== undefined
      ? { atOnce: judge.concurrency, isEach: false }
      : { atOnce: agentConcurrency, isEach: true },
  ]);
  return { [solveKind]: { atOnce: agentConcurrency, isEach }, ...Object.fromEntries(scorers) };
}

/** A task whose work is done by workers, with the log that shows when a result is stored. */
export interface FarTask<Input, Target, Output> {
  readonly task: Task<Input, Target, Output>;
  readonly log: RunLog;
}

/** Makes workers do the work of a task; only the runner writes the log. */
export function farTask<Input, Target, Output>(
  near: Task<Input, Target, Output>,
  log: LineWriter<LogLine>,
  coordinator: Pick<Coordinator, 'ask'>,
): FarTask<Input, Target, Output> {
  const unlogged = new Map<string, () => void>();
  const ask = async (
    kind: string,
    { sample, output, ask = '' }: { readonly sample: string; readonly output?: unknown; readonly ask?: string },
    context: EvalContext,
  ): Promise<unknown> => {
    const key = JSON.stringify([kind, sample, ask]);
    const keep = (answered: Pick<Answered, 'onLogged'>): void => void unlogged.set(key, answered.onLogged);
    const work = kind === solveKind ? { sample } : { sample, ask, output };
    try {
      const answered = await coordinator.ask({ kind, key: [sample, ask], work }, context);
      keep(answered);
      return answered.value;
    } catch (fault) {
      if (isAnswered(fault)) keep(fault);
      throw fault;
    }
  };
  const scorers = near.scorers.map((scorer): Scorer<Input, Target, Output> => ({
    name: scorer.name,
    measurementKeys: (sample) => scorer.measurementKeys(sample),
    measure: (name, { sample, output }, context) =>
      ask(measureKind(scorer.name), { sample: sample.id, output, ask: name }, context),
    score: (solved, measured) => scorer.score(solved, measured),
  }));
  return {
    task: {
      name: near.name,
      version: near.version,
      samples: () => near.samples(),
      describe: (sample) => near.describe(sample),
      solve: async (sample, context) => (await ask(solveKind, { sample: sample.id }, context)) as Output,
      scorers,
    },
    log: {
      async append(line) {
        await log.append(line);
        const key = keyOf(line);
        if (key === undefined) return;
        unlogged.get(key)?.();
        unlogged.delete(key);
      },
      close: () => log.close(),
    },
  };
}

/** The ask that a line of the log answers. */
function keyOf(line: LogLine): string | undefined {
  if (line.event === 'output') return JSON.stringify([solveKind, line.sample, '']);
  if (line.event !== 'measured' && line.event !== 'failed') return undefined;
  const { sample, scorer, ask = '' } = line;
  return JSON.stringify([scorer === undefined ? solveKind : measureKind(scorer), sample, ask]);
}
