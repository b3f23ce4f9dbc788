import path from 'node:path';
import { openBudget } from '../budget.ts';
import { machineClock } from '../clock.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { openProgress } from '../progress.ts';
import { openRunFolder } from '../run-folder.ts';
import { openRunLog, readRunLog } from '../run-log.ts';
import { noPriorResults, runTask } from '../runner.ts';
import { checkResults, inBothOrders, type ProbeResult } from '../speechrole/judging/judge-check.ts';
import { judgeHealth } from '../speechrole/judging/judge-health.ts';
import { metricShort } from '../speechrole/judging/metrics.ts';
import { headerOf, judgeScorers, selectSamples } from '../speechrole/open-run.ts';
import { probeAgent, probeOf, probeSamples } from '../speechrole/judging/probes.ts';
import { openProtocol, type Protocol } from '../speechrole/judging/protocols.ts';
import type { RunConfig } from '../speechrole/run-config.ts';
import { healthText } from '../speechrole/summary/score-text.ts';
import { speechRoleTask, type SpeechRoleTask } from '../speechrole/data/task.ts';
import { readTestData, type TestData } from '../speechrole/data/test-data.ts';
import { textTable } from '../text-table.ts';
import { numberOf, parseFlags, textOf } from './flags.ts';
import { given, judgeFlags, judgeOf } from './judge-flags.ts';
import { parseRunConfig } from './run.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

/** `dramatis eval judge-check`: tests a judge on altered references before its scores are trusted. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    data: { type: 'string', value: 'DIR', help: 'the test data, whose references are altered' },
    out: { type: 'string', value: 'DIR', help: 'where the check is kept; one that is there is gone on with' },
    dialogues: { type: 'string', value: 'N', help: 'how many dialogues (16), each with six probes in both orders' },
    json: { type: 'boolean', help: 'print numbers' },
    ...judgeFlags,
  } as const;
  const parsed = parseFlags('judge-check', '--data DIR --out DIR --judge URL --judge-model MODEL', args, flags, host);
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const [data, out] = [textOf(values.data), textOf(values.out)];
  if (data === undefined || out === undefined || textOf(values.judge) === undefined)
    throw new EvalError('usage', '--data, --out and --judge are needed.');
  const config = parseRunConfig(
    given({
      data: path.resolve(data),
      agent: 'probes',
      judge: judgeOf(values),
      protocol: textOf(values.protocol),
      prompts: textOf(values.prompts),
      repeats: numberOf(values.repeats, 'repeats'),
      parser: textOf(values.parser),
      parseRetries: numberOf(values['parse-retries'], 'parse-retries'),
      retries: numberOf(values.retries, 'retries'),
    }),
  );
  const { prompts, repeats } = config;
  const protocol = inBothOrders(openProtocol(config.protocol, { prompts, repeats }));
  const test = await readTestData(config.data);
  const task = checkTask(config, protocol, test, { host, dialogues: numberOf(values.dialogues, 'dialogues') ?? 16 });
  const limits = {
    maxDollars: numberOf(values['max-cost'], 'max-cost'),
    maxMinutes: numberOf(values['max-minutes'], 'max-minutes'),
  };
  const ended = await perform({ config, protocol, test, task, limits, folder: path.resolve(out) }, host);
  const record = await readRunLog(path.join(out, 'log.jsonl'));
  const results = checkResults(record, protocol, config.parser);
  await writeFileAtomic(path.join(out, 'check.json'), `${JSON.stringify(results, null, 2)}\n`);
  const health = judgeHealth(record, protocol, config.parser);
  host.print(
    values.json === true ? JSON.stringify({ results, health }, null, 2) : `${asText(results)}\n\n${healthText(health)}`,
  );
  if (ended !== 'finished') host.print(`Not finished: ${ended}. The same command goes on.`);
  return ended === 'finished' && results.every(({ passed }) => passed) ? 0 : 1;
}

function checkTask(
  config: RunConfig,
  protocol: Protocol,
  test: TestData,
  { host, dialogues }: { readonly host: EvalHost; readonly dialogues: number },
): SpeechRoleTask {
  const samples = probeSamples(selectSamples(test.samples, config.select), dialogues);
  const scorers = judgeScorers(config, host, protocol).map((scorer) => ({
    ...scorer,
    // A probe is judged only on the metric that should reveal its alteration.
    asks: (sample: (typeof samples)[number]) =>
      protocol.questions
        .filter((ask) => ask.metric === 'all' || ask.metric === probeOf(sample.id).metric)
        .map((ask) => ask.key),
  }));
  return speechRoleTask(samples, probeAgent(test.samples), scorers);
}

async function perform(
  check: {
    readonly config: RunConfig;
    readonly protocol: Protocol;
    readonly test: TestData;
    readonly task: SpeechRoleTask;
    readonly folder: string;
    readonly limits: { readonly maxDollars: number | undefined; readonly maxMinutes: number | undefined };
  },
  host: EvalHost,
): Promise<string> {
  const { config, protocol, test, task, limits } = check;
  await using folder = await openRunFolder(check.folder);
  const before = await readRunLog(folder.logFile).catch(() => undefined);
  const known = before ?? noPriorResults;
  const log = await openRunLog(folder.logFile, { fresh: before === undefined });
  const progress = openProgress(host.progress, () => machineClock.now());
  try {
    const header = await headerOf(config, test.samples, test, protocol.promptHashes, host);
    await log.append(
      before === undefined
        ? { ...header, task: { name: 'judge-check', version: 1 } }
        : { event: 'resumed', at: new Date().toISOString() },
    );
    return await runTask(task, known, {
      log,
      audio: folder.audio,
      budget: openBudget(limits, { clock: machineClock, spentDollars: known.spentDollars }),
      clock: machineClock,
      signal: host.signal,
      concurrency: config.judge?.concurrency ?? 1,
      onProgress: (state) => progress.show(state),
    });
  } finally {
    progress.end();
    await log.close();
  }
}

function asText(results: readonly ProbeResult[]): string {
  const percent = (value: number | null): string => (value === null ? '–' : `${Math.round(100 * value)}`);
  return textTable(
    ['reference against', 'metric', 'right', '95 %', 'difference', 'flips', 'unscored', ''],
    results.map(({ probe, n, right, low, high, difference, flips, unscored, passed }) => [
      `${probe.name} (${probe.help})`,
      metricShort[probe.metric],
      `${right}/${n}`,
      `${percent(low)}–${percent(high)} %`,
      difference === null ? '–' : difference.toFixed(2),
      String(flips),
      String(unscored),
      passed ? 'passed' : 'FAILED',
    ]),
  );
}
