import path from 'node:path';
import type { FlagFacts } from '../../../server/terminal/flags.ts';
import type { Benchmark, Exported, ReadingValues } from '../../benchmark.ts';
import { EvalError } from '../../eval-error.ts';
import { requirePassedCheck } from '../../judge/passed-check.ts';
import { checkFile } from '../judging/judge-check.ts';
import { openProtocol } from '../judging/protocols.ts';
import { openRun } from '../open-run.ts';
import type { RunConfig } from '../run-config.ts';
import { comparability, readRun, runName, writeResults, type RunView } from '../run-view.ts';
import { reportHtml } from '../sections/report.ts';
import { latexTable, resultsCsv, writeOutputs, writeResultFiles } from '../summary/export.ts';
import { summaryText } from '../summary/score-text.ts';
import { summarizeRun } from '../summary/summary.ts';
import { checkSpeechData } from '../data/data-check.ts';
import { checkFlags, openSpeechCheck } from './check.ts';
import { configOf, runFlags } from './flags.ts';
import { compareSpeechRuns, speechLeaderboard } from './tables.ts';

const readingFlags = {
  parser: { type: 'string', value: 'WHICH', help: 'tolerant or strict (default: as in the run)' },
  aggregation: { type: 'string', value: 'HOW', help: 'mean-of-ratios or ratio-of-sums (default: as in the run)' },
} as const satisfies Record<string, FlagFacts>;

/** SpeechRole-Eval: spoken dialogues in character, judged against recordings of a reference. */
export const speechRole: Benchmark<RunConfig, RunView> = {
  name: 'speechrole',
  title: 'SpeechRole-Eval',
  logName: 'speechrole-eval',
  flags: runFlags,
  synopsis: '--data DIR --out DIR [--agent WHO | --outputs DIR] [--judge URL --judge-model MODEL] …',
  readingFlags,
  async configure(line) {
    const config = configOf(line);
    const { judge, judgeCheck, protocol, prompts, repeats } = config;
    if (judgeCheck !== undefined) {
      const { promptHashes } = openProtocol(protocol, { prompts, repeats });
      await requirePassedCheck(judgeCheck, { ...checkFile, judge: judge?.model, prompts: promptHashes });
    }
    return config;
  },
  resumed: ({ config }, { agent = config.agent, judge }) => ({
    ...config,
    agent,
    ...(config.judge === undefined || judge === undefined ? {} : { judge: { ...config.judge, url: judge } }),
  }),
  open: openRun,
  read: readWith,
  writeResults,
  summary(view) {
    const summary = summarizeRun(view);
    return { json: summary, text: summaryText(summary) };
  },
  reportHtml,
  formats: ['csv', 'json', 'latex', 'results', 'outputs'],
  exportAs,
  comparability,
  isUnchecked: ({ config }) => config.judge !== undefined && config.judgeCheck === undefined,
  compare: compareSpeechRuns,
  leaderboard: speechLeaderboard,
  checkFlags,
  openCheck: openSpeechCheck,
  checkData: checkSpeechData,
};

function exportAs(format: string, view: RunView): Exported {
  if (format === 'results')
    return {
      folder: 'test_results',
      writeTo: async (folder) => `${await writeResultFiles(view, folder)} files in ${folder}`,
    };
  if (format === 'outputs')
    return {
      folder: '',
      async writeTo(parent) {
        const folder = path.join(parent, 'model_output', path.basename(view.folder));
        return `${await writeOutputs(view, folder)} dialogues in ${folder}`;
      },
    };
  if (format === 'csv') return { file: 'results.csv', text: resultsCsv(view, runName(view)) };
  if (format === 'latex') return { file: 'table.tex', text: latexTable(summarizeRun(view)) };
  return { file: 'summary.json', text: `${JSON.stringify(summarizeRun(view), null, 2)}\n` };
}

/** Reads the run in a folder, with the flags' parser and aggregation. */
function readWith(folder: string, { parser, aggregation }: ReadingValues = {}): Promise<RunView> {
  if (parser !== undefined && parser !== 'strict' && parser !== 'tolerant')
    throw new EvalError('usage', '--parser must be strict or tolerant.');
  if (aggregation !== undefined && aggregation !== 'mean-of-ratios' && aggregation !== 'ratio-of-sums')
    throw new EvalError('usage', '--aggregation must be mean-of-ratios or ratio-of-sums.');
  return readRun(path.resolve(folder), {
    ...(parser === undefined ? {} : { parser }),
    ...(aggregation === undefined ? {} : { aggregation }),
  });
}
