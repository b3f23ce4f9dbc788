import { z } from 'zod';
import { table } from '../../server/terminal/table.ts';
import type { OpenedCheck } from '../benchmark.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import type { RunRecord } from '../run-log.ts';
import { mean } from '../statistics.ts';
import type { TextConfig } from './config.ts';
import { textScorer, verdictsOf } from './judging.ts';
import { openPrompts } from './prompts.ts';
import { namedValues } from './rows.ts';
import { headerOfText, runnable } from './run.ts';
import { failedCheckAdvice } from '../judge/passed-check.ts';
import { openTextJudge } from './systems.ts';
import type { SampleFacts, TextTask } from './text-task.ts';

/** A judge's result on one kind of probe. */
interface TextProbeResult {
  readonly probe: string;
  readonly help: string;
  readonly metric: string;
  /** Pairs with a score of both. */
  readonly n: number;
  /** Pairs in which the better output scored better. */
  readonly right: number;
  readonly unscored: number;
  /** True if at least 80 % are right. */
  readonly passed: boolean;
}

const mark = '\u{1F}';

/** Opens the judge's check: pairs of outputs with a known better one, instead of those of a system. */
export async function openTextCheck<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  config: Config,
  { host, items }: { readonly host: EvalHost; readonly items: number },
): Promise<OpenedCheck> {
  const data = await task.load(config);
  const prompts = openPrompts(task.promptFiles, config.prompts);
  const judge = openTextJudge(config, host);
  if (judge === undefined) throw new EvalError('usage', '--judge is required.');
  const outputs = new Map<string, Output>();
  const samples: Facts[] = [];
  let taken = 0;
  for await (const facts of data.samples()) {
    const probes = task.probes(facts);
    if (probes.length === 0) continue;
    for (const { name, better, worse } of probes) {
      for (const [side, output] of [
        ['better', better],
        ['worse', worse],
      ] as const) {
        const id = [name, side, facts.id].join(mark);
        samples.push({ ...facts, id });
        outputs.set(id, output);
      }
    }
    taken += 1;
    if (taken >= items) break;
  }
  if (samples.length === 0) throw new EvalError('data', 'No item of the data can be altered for a probe.');
  const header = await headerOfText(task, config, { hash: data.hash, count: samples.length }, prompts);
  return {
    task: runnable(
      task,
      { samples: () => samples },
      {
        solve: ({ id }) => Promise.resolve(outputs.get(id) as Output),
        scorers: [textScorer(task, { judge, prompts, config })],
      },
    ),
    header: { ...header, task: { name: 'judge-check', version: task.version } },
    concurrency: config.judge?.concurrency ?? 1,
    problems: [],
    results(record) {
      const results = textCheckResults(task, config, record);
      return {
        results,
        json: { results },
        text: textCheckText(results),
        isPassed: results.length > 0 && results.every(({ passed }) => passed),
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Evaluates the judge's verdicts on the probes. */
function textCheckResults<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  config: Config,
  record: RunRecord,
): TextProbeResult[] {
  const results = new Map<string, { help: string; metric: string; n: number; right: number; unscored: number }>();
  for (const [id, about] of record.samples) {
    const [name = '', side, sample] = id.split(mark);
    if (side !== 'better') continue;
    const facts = { ...(about as Facts), id: sample ?? '' };
    const probe = task.probes(facts).find((each) => each.name === name);
    if (probe === undefined) continue;
    const { help, metric } = probe;
    const counts = results.get(name) ?? { help, metric, n: 0, right: 0, unscored: 0 };
    results.set(name, counts);
    const [better, worse] = (['better', 'worse'] as const).map((which) => {
      const measured = record.measured.get([name, which, sample].join(mark));
      const verdict = verdictsOf(task, { facts, config, measured });
      const scores = task.score(facts, probe[which], { config, verdict });
      return mean(namedValues({ scores }, metric).filter((value) => value !== null));
    });
    if (better === null || worse === null || better === undefined || worse === undefined) {
      counts.unscored += 1;
      continue;
    }
    const isLower = task.metrics.find(({ key }) => key === metric)?.isLower === true;
    counts.n += 1;
    counts.right += (isLower ? better < worse : better > worse) ? 1 : 0;
  }
  return [...results].map(([probe, counts]) => {
    const { help, metric, n, right, unscored } = counts;
    return { probe, help, metric, n, right, unscored, passed: n > 0 && right / (n + unscored) >= 0.8 };
  });
}

function textCheckText(results: readonly TextProbeResult[]): string {
  const rows = results.map(({ probe, metric, n, right, unscored, passed }) => [
    probe,
    metric,
    `${right}/${n}`,
    String(unscored),
    passed ? 'passed' : 'FAILED',
  ]);
  return [
    table(['probe', 'metric', 'correct', 'unscored', ''], rows, { numbers: true }),
    '',
    'Each probe is a better answer and a worse one:',
    ...results.map(({ probe, help }) => `  ${probe}: ${help}`),
    ...failedCheckAdvice(results.filter(({ passed }) => !passed).map(({ probe }) => probe)),
  ].join('\n');
}

const schema = z.array(z.looseObject({ probe: z.string(), passed: z.boolean() }));

/** Form of `check.json` of a benchmark of text, and the probes in it that a judge did not pass. */
export const checkFile = {
  schema,
  missed: (results: z.infer<typeof schema>) => results.filter(({ passed }) => !passed).map(({ probe }) => probe),
};
