import { tableInParts } from '../../../server/terminal/table.ts';
import { wrap } from '../../../server/terminal/text.ts';
import { uncheckedNote, type Printed } from '../../benchmark.ts';
import { metricKeys, metricShort } from '../judging/metrics.ts';
import { runName, type RunView } from '../run-view.ts';
import { leaderboard, paperRows, paperTables, type LeaderboardRow } from '../summary/leaderboard.ts';
import { compareRuns, coverageNote, coverageText } from '../summary/score-table.ts';
import { comparisonText, scoreText } from '../summary/score-text.ts';
import { summarizeRun } from '../summary/summary.ts';

/** Compares the dialogues of two runs, by language. */
export function compareSpeechRuns(a: RunView, b: RunView): Printed {
  const json: Record<string, unknown> = {};
  const text: string[] = [];
  for (const language of ['en', 'zh'] as const) {
    const of = (view: RunView): RunView['judged'] => view.judged.filter((sample) => sample.language === language);
    if (of(a).length === 0 || of(b).length === 0) continue;
    const differences = compareRuns(of(a), of(b), { aggregation: a.config.aggregation, seed: a.config.seed });
    json[language] = differences;
    text.push(
      `${language === 'en' ? 'English' : 'Chinese'}\n${comparisonText(differences, [runName(a), runName(b)])}\n`,
    );
  }
  return { json, text: text.join('\n') };
}

/** The paper's tables, and the runs, in one table for each way of judging. */
export function speechLeaderboard(runs: readonly RunView[]): Printed {
  const rows = [...paperRows('table2'), ...paperRows('table3'), ...runs.flatMap(rowsOf)];
  const tables = leaderboard(rows).map(({ heading, rows: members }) => {
    const body = members.map(({ system, values, overall, coverage, source }) => [
      source === 'paper' ? system : `▸ ${system}`,
      ...values.map(scoreText),
      scoreText(overall),
      coverage ?? '',
    ]);
    const head = ['', ...metricKeys.map((metric) => metricShort[metric]), 'Overall', 'scored'];
    const note = members.some(({ coverage }) => coverage?.endsWith('†')) ? `\n${coverageNote}` : '';
    const unchecked = members.some(({ isJudgeChecked }) => isJudgeChecked === false) ? `\n${uncheckedNote}` : '';
    return `${wrap(heading, 0, process.stdout.columns ?? Infinity)}${unchecked}\n${tableInParts(head, body, { numbers: true })}${note}\n`;
  });
  const source = `Rows without ▸: ${paperTables.source}. Scores by other judges or protocols are in separate tables.`;
  return { json: rows, text: [...tables, source].join('\n') };
}

function rowsOf(view: RunView): LeaderboardRow[] {
  const { groups, name, protocol, judge, isJudgeChecked, aggregation } = summarizeRun(view);
  return groups.flatMap(({ key, row }): LeaderboardRow[] => {
    const [language, domain = 'all'] = key.split('/');
    if (domain !== 'all' && domain !== 'in' && domain !== 'out') return [];
    return [
      {
        system: name,
        language: language === 'zh' ? 'zh' : 'en',
        domain,
        values: metricKeys.map((metric) => row.metrics[metric].value),
        overall: row.overall.value,
        coverage: coverageText(row),
        protocol,
        judge,
        isJudgeChecked,
        aggregation,
        source: view.folder,
      },
    ];
  });
}
