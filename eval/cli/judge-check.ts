import path from 'node:path';
import { openBudget } from '../budget.ts';
import { machineClock } from '../clock.ts';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
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
import { table } from '../../server/terminal/table.ts';
import { numberFlag, parseFlags, textFlag } from '../../server/terminal/flags.ts';
import { given, judgeFlags, judgeOf } from './judge-flags.ts';
import { openRunProgress } from './execute.ts';
import { parseRunConfig } from './run.ts';
import { writeFileAtomic } from '../../voices/runtime/write-file-atomic.ts';

/** `dramatis eval judge-check`: tests a judge on altered references before its scores are trusted. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = {
    data: { type: 'string', value: 'DIR', help: 'the test data; its references are altered for the probes' },
    out: { type: 'string', value: 'DIR', help: 'folder of the check; an unfinished check there is continued' },
    dialogues: {
      type: 'string',
      value: 'N',
      help: 'number of dialogues (default 16), each with six probes in both orders',
    },
    json: { type: 'boolean', help: 'print JSON' },
    ...judgeFlags,
  } as const;
  const parsed = parseFlags(
    { name: 'eval judge-check', synopsis: '--data DIR --out DIR --judge URL --judge-model MODEL', flags },
    args,
    host.print,
  );
  if (parsed === undefined) return 0;
  const { values } = parsed;
  const [data, out] = [textFlag(values.data), textFlag(values.out)];
  if (data === undefined || out === undefined || textFlag(values.judge) === undefined)
    throw new EvalError('usage', '--data, --out and --judge are required.');
  const config = parseRunConfig(
    given({
      data: path.resolve(data),
      agent: 'probes',
      judge: judgeOf(values),
      protocol: textFlag(values.protocol),
      prompts: textFlag(values.prompts),
      repeats: numberFlag(values.repeats, 'repeats'),
      parser: textFlag(values.parser),
      parseRetries: numberFlag(values['parse-retries'], 'parse-retries'),
      retries: numberFlag(values.retries, 'retries'),
    }),
  );
  const { prompts, repeats } = config;
  const protocol = inBothOrders(openProtocol(config.protocol, { prompts, repeats }));
  const test = await readTestData(config.data);
  const task = checkTask(config, protocol, test, { host, dialogues: numberFlag(values.dialogues, 'dialogues') ?? 16 });
  const limits = {
    maxDollars: numberFlag(values['max-cost'], 'max-cost'),
    maxMinutes: numberFlag(values['max-minutes'], 'max-minutes'),
  };
  const ended = await perform({ config, protocol, test, task, limits, folder: path.resolve(out) }, host);
  const record = await readRunLog(path.join(out, 'log.jsonl'));
  const results = checkResults(record, protocol, config.parser);
  await writeFileAtomic(path.join(out, 'check.json'), `${JSON.stringify(results, null, 2)}\n`);
  const health = judgeHealth(record, protocol, config.parser);
  host.print(
    values.json === true ? JSON.stringify({ results, health }, null, 2) : `${asText(results)}\n\n${healthText(health)}`,
  );
  if (ended !== 'finished') host.print(`Not finished: ${ended}. Run the same command again to continue.`);
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
  const progress = openRunProgress(host);
  try {
    const header = await headerOf(config, test.samples, test, protocol.promptHashes);
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
  return table(
    ['reference against', 'metric', 'correct', '95 %', 'difference', 'flips', 'unscored', ''],
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
    { numbers: true },
  );
}
