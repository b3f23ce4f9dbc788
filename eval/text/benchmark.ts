import path from 'node:path';
import { numberFlag, type FlagFacts } from '../../server/terminal/flags.ts';
import { writeFileAtomic } from '../../voices/runtime/files.ts';
import type { Benchmark, CheckedData } from '../benchmark.ts';
import { requirePassedCheck } from '../judge/passed-check.ts';
import { checkFile, openTextCheck } from './check.ts';
import { textConfigOf, type TextConfig } from './config.ts';
import { exportText, textFormats } from './export.ts';
import { textJudgeHealth, verdictsOf } from './judging.ts';
import { openPrompts } from './prompts.ts';
import { textReportHtml } from './report.ts';
import { openTextRun, readTextRun, type TextRun } from './run.ts';
import { protocolOf, summarizeText } from './summary.ts';
import { compareTextRuns, textLeaderboard, textSummaryText } from './tables.ts';
import type { LoadedData, SampleFacts, TextTask, Verdict } from './text-task.ts';

const readingFlags = {
  parser: { type: 'string', value: 'WHICH', help: 'tolerant or strict (default: as in the run)' },
} as const satisfies Record<string, FlagFacts>;

/** A benchmark of text for the commands. */
export function textBenchmark<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
): Benchmark<Config, TextRun<Config, Facts, Output>> {
  return {
    name: task.name,
    title: task.title,
    logName: task.logName,
    flags: task.flags,
    synopsis: task.synopsis,
    readingFlags,
    async configure(line) {
      const config = textConfigOf(line, task.options);
      if (config.judgeCheck !== undefined) {
        const { hashes: prompts } = openPrompts(task.promptFiles, config.prompts);
        await requirePassedCheck(config.judgeCheck, { ...checkFile, judge: config.judge?.model, prompts });
      }
      return config;
    },
    resumed: ({ config }, { agent = config.agent, judge }) => ({
      ...config,
      agent,
      ...(config.judge === undefined || judge === undefined ? {} : { judge: { ...config.judge, url: judge } }),
    }),
    open: (config, folder, host, options) => openTextRun(task, config, { ...options, folder, host }),
    read: (folder, values) => readTextRun(task, folder, values),
    async writeResults(run) {
      const head = { protocol: protocolOf(task, run), judge: run.config.judge?.model ?? null };
      const text = JSON.stringify({ ...head, parser: run.config.parser, samples: run.scored }, null, 1);
      await writeFileAtomic(path.join(run.folder, 'results.json'), `${text}\n`);
    },
    summary(run) {
      const summary = summarizeText(task, run);
      return { json: summary, text: textSummaryText(task, summary) };
    },
    reportHtml: (run, options) => textReportHtml(task, run, options),
    formats: textFormats,
    exportAs: (format, run) => exportText(task, run, format),
    comparability(run) {
      const { config, record } = run;
      const hashes = Object.entries(record.header.prompts).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return {
        protocol: task.protocol(config),
        prompts: hashes.map(([file, hash]) => `${file} ${hash.slice(0, 8)}`).join(', '),
        judge: config.judge?.model ?? 'none',
        'model that answered': textJudgeHealth(task, run).models.join(', ') || 'unknown',
        parser: config.parser,
        ...task.comparable(config),
      };
    },
    isUnchecked: ({ config }) => config.judge !== undefined && config.judgeCheck === undefined,
    compare: (a, b) => compareTextRuns(task, a, b),
    ...withPeopleOf(task),
    leaderboard: (runs) => textLeaderboard(task, runs),
    ...checksOf(task),
  };
}

function withPeopleOf<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
): Pick<Benchmark<Config, TextRun<Config, Facts, Output>>, 'withPeople'> {
  if (task.withPeople === undefined) return {};
  return {
    withPeople({ config, facts, record }, labels) {
      const verdict = (sample: string, ask: string): Verdict => {
        const about = facts.get(sample);
        if (about === undefined) return { state: 'failed', text: '' };
        return verdictsOf(task, { facts: about, config, measured: record.measured.get(sample) })(ask);
      };
      return task.withPeople?.({ config, facts, verdict }, labels) ?? { json: null, text: '' };
    },
  };
}

function checksOf<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
): Pick<Benchmark<Config, TextRun<Config, Facts, Output>>, 'checkFlags' | 'openCheck' | 'checkData'> {
  return {
    checkFlags: {
      ...task.flags,
      items: { type: 'string', value: 'N', help: 'number of items to probe the judge with (default 16)' },
    },
    openCheck(line, _folder, host) {
      const items = numberFlag(line.values['items'], 'items', { min: 1, isWhole: true }) ?? 16;
      const values = { ...line.values, agent: 'probes', outputs: undefined };
      return openTextCheck(task, textConfigOf({ ...line, values }, task.options), { host, items });
    },
    async checkData(folder) {
      const config = task.options.schema.parse({ data: path.resolve(folder), agent: 'none' }) as Config;
      return checkedText(await task.load(config));
    },
  };
}

async function checkedText(data: LoadedData<SampleFacts>): Promise<CheckedData> {
  const byLanguage = { en: 0, zh: 0 };
  const groups = new Map<string, number>();
  for await (const { language, group } of data.samples()) {
    byLanguage[language] += 1;
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  const { count, hash, problems } = data;
  const json = { samples: count, byLanguage, groups: Object.fromEntries(groups), problems, hash };
  const text = [
    `${count} items: English ${byLanguage.en}, Chinese ${byLanguage.zh}`,
    `${groups.size} roles or books`,
    ...problems,
    `data hash ${hash}`,
  ].join('\n');
  return { json, text, isComplete: count > 0 && problems.length === 0 };
}
