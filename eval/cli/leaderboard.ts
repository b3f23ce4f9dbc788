import type { EvalHost } from '../host.ts';
import { leaderboard, paperRows, paperTables, type LeaderboardRow } from '../speechrole/summary/leaderboard.ts';
import { metricKeys, metricShort } from '../speechrole/judging/metrics.ts';
import { summarizeRun } from '../speechrole/summary/summary.ts';
import { table } from '../../server/terminal/table.ts';
import { scoreText } from '../speechrole/summary/score-text.ts';
import { parseFlags } from '../../server/terminal/flags.ts';
import { readingFlags, readWith } from './rescore.ts';

/** `dramatis eval leaderboard [RUN…]`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const flags = { ...readingFlags, json: { type: 'boolean', help: 'print JSON' } } as const;
  const parsed = parseFlags({ name: 'eval leaderboard', synopsis: '[RUN…] [--json]', flags }, args, host.print);
  if (parsed === undefined) return 0;
  const ours: LeaderboardRow[] = [];
  for (const folder of parsed.positionals) {
    const summary = summarizeRun(await readWith(folder, parsed.values));
    for (const { key, row } of summary.groups) {
      const [language, domain = 'all'] = key.split('/');
      if (domain !== 'all' && domain !== 'in' && domain !== 'out') continue;
      ours.push({
        system: summary.name,
        language: language === 'zh' ? 'zh' : 'en',
        domain,
        values: metricKeys.map((metric) => row.metrics[metric].value),
        overall: row.overall.value,
        n: row.samples,
        protocol: summary.protocol,
        judge: summary.judge,
        aggregation: summary.aggregation,
        source: folder,
      });
    }
  }
  const rows = [...paperRows('table2'), ...paperRows('table3'), ...ours];
  if (parsed.values.json === true) {
    host.print(JSON.stringify(rows, null, 2));
    return 0;
  }
  for (const { heading, rows: members } of leaderboard(rows)) {
    const body = members.map(({ system, values, overall, n, source }) => [
      source === 'paper' ? system : `▸ ${system}`,
      ...values.map(scoreText),
      scoreText(overall),
      n === null ? '' : String(n),
    ]);
    const head = ['', ...metricKeys.map((metric) => metricShort[metric]), 'Overall', 'n'];
    host.print(`${heading}\n${table(head, body, { numbers: true })}\n`);
  }
  host.print(`Rows without ▸: ${paperTables.source}. Scores by other judges or protocols are in separate tables.`);
  return 0;
}
