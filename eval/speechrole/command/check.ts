import path from 'node:path';
import { numberFlag, type CommandLine, type FlagFacts } from '../../../server/terminal/flags.ts';
import { table } from '../../../server/terminal/table.ts';
import type { OpenedCheck } from '../../benchmark.ts';
import type { EvalHost } from '../../host.ts';
import { speechRoleTask, type SpeechRoleTask } from '../data/task.ts';
import { readTestData, type TestData } from '../data/test-data.ts';
import { checkResults, inBothOrders, type ProbeResult } from '../judging/judge-check.ts';
import { judgeHealth } from '../judging/judge-health.ts';
import { failedCheckAdvice } from '../../judge/passed-check.ts';
import { metricShort } from '../judging/metrics.ts';
import { openProbeSpeech, type ProbeSpeech } from '../judging/probe-speech.ts';
import { probeAgent, probeOf, probeSamples } from '../judging/probes.ts';
import { openProtocol, type Protocol } from '../judging/protocols.ts';
import { headerOf, judgeScorers, selectSamples } from '../open-run.ts';
import type { RunConfig } from '../run-config.ts';
import { healthText } from '../summary/score-text.ts';
import { configOf, speechJudgeFlags } from './flags.ts';

/** Flags of `eval judge-check`. */
export const checkFlags = {
  data: { type: 'string', value: 'DIR', help: 'the test data; its references are altered for the probes' },
  dialogues: { type: 'string', value: 'N', help: 'dialogues, each with all probes in both orders (default 16)' },
  ...speechJudgeFlags,
} as const satisfies Record<string, FlagFacts>;

/** Opens the check of a judge on altered references. */
export async function openSpeechCheck(
  line: Pick<CommandLine<string>, 'values' | 'settings'>,
  folder: string,
  host: EvalHost,
): Promise<OpenedCheck> {
  const config = configOf(line, { agent: 'probes' });
  const { prompts, repeats } = config;
  const protocol = inBothOrders(openProtocol(config.protocol, { prompts, repeats }));
  const test = await readTestData(config.data);
  const speech = openProbeSpeech(path.join(folder, 'spoken'));
  const dialogues = numberFlag(line.values['dialogues'], 'dialogues') ?? 16;
  const header = await headerOf(config, test.samples, test, protocol.promptHashes);
  return {
    task: checkTask(config, protocol, test, { host, dialogues, speech }),
    header: { ...header, task: { name: 'judge-check', version: 1 } },
    concurrency: config.judge?.concurrency ?? 1,
    problems: [],
    results(record) {
      const results = checkResults(record, protocol, config.parser);
      const health = judgeHealth(record, protocol, config.parser);
      return {
        results,
        json: { results, health },
        text: `${asText(results)}\n\n${healthText(health)}`,
        isPassed: results.every(({ passed }) => passed),
      };
    },
    [Symbol.asyncDispose]: () => speech.close(),
  };
}

function checkTask(
  config: RunConfig,
  protocol: Protocol,
  test: TestData,
  { host, dialogues, speech }: { readonly host: EvalHost; readonly dialogues: number; readonly speech: ProbeSpeech },
): SpeechRoleTask {
  const samples = probeSamples(selectSamples(test.samples, config.select), dialogues, speech);
  const scorers = judgeScorers(config, host, protocol).map((scorer) => ({
    ...scorer,
    // A probe is judged only on the metric that should reveal its alteration.
    measurementKeys: (sample: (typeof samples)[number]) =>
      protocol.questions
        .filter((ask) => ask.metric === 'all' || ask.metric === probeOf(sample.id).metric)
        .map((ask) => ask.key),
  }));
  return speechRoleTask(samples, probeAgent(test.samples, speech), scorers);
}

function asText(results: readonly ProbeResult[]): string {
  const percent = (value: number | null): string => (value === null ? '–' : `${Math.round(100 * value)}`);
  const rows = results.map(({ probe, n, right, low, high, difference, flips, unscored, passed }) => [
    probe.name,
    metricShort[probe.metric],
    `${right}/${n}`,
    `${percent(low)}–${percent(high)} %`,
    difference === null ? '–' : difference.toFixed(2),
    String(flips),
    String(unscored),
    passed ? 'passed' : 'FAILED',
  ]);
  const head = ['reference against', 'metric', 'correct', '95 %', 'difference', 'flips', 'unscored', ''];
  return [
    table(head, rows, { numbers: true }),
    '',
    ...results.map(({ probe }) => `  ${probe.name}: ${probe.help}`),
    ...failedCheckAdvice(results.filter(({ passed }) => !passed).map(({ probe }) => probe.name)),
  ].join('\n');
}
