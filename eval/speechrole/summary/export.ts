import path from 'node:path';
import { formatCsv } from '../../csv.ts';
import { readOutcomes } from '../judging/judge-scorer.ts';
import { metricKeys, metricShort } from '../judging/metrics.ts';
import type { RunView } from '../run-view.ts';
import type { RunSummary } from './summary.ts';
import type { Estimate } from './score-table.ts';
import { ratioOf } from '../judging/scores.ts';
import { writeFileAtomic } from '../../../voices/runtime/write-file-atomic.ts';

/** Serializes every judgment of a run, sorted by dialogue id: the same run gives the same bytes. */
export function resultsJson(view: RunView): string {
  const { config, protocol, judged } = view;
  const head = { protocol: protocol.name, judge: config.judge?.model ?? null, parser: config.parser };
  return `${JSON.stringify({ ...head, samples: judged }, null, 1)}\n`;
}

/** Formats one CSV row per dialogue and metric; a missing score is an empty cell. */
export function resultsCsv(view: RunView, system: string): string {
  return formatCsv(
    view.judged.flatMap((sample) =>
      metricKeys.map((metric) => {
        const pair = sample.scores[metric];
        const { id, role, language, mode, domain, category } = sample;
        return {
          sample: id,
          system,
          role,
          language,
          mode,
          domain,
          category,
          metric: metricShort[metric],
          test: pair?.test ?? null,
          reference: pair?.reference ?? null,
          ratio: pair === null || pair === undefined ? null : ratioOf(pair),
          state: pair === null ? 'unscored' : pair === undefined ? 'failed' : 'scored',
        };
      }),
    ),
  );
}

/**
 * Formats the paper's table in LaTeX (booktabs): one row per subset of the data, with intervals in small type below.
 */
export function latexTable(summary: RunSummary): string {
  const cell = ({ value, low, high }: Estimate): string =>
    value === null
      ? '--'
      : low === null || high === null
        ? value.toFixed(4)
        : `\\shortstack{${value.toFixed(4)}\\\\{\\tiny [${low.toFixed(2)}, ${high.toFixed(2)}]}}`;
  const rows = summary.groups.map(({ label, row }) =>
    [label, ...metricKeys.map((metric) => cell(row.metrics[metric])), cell(row.overall), String(row.samples)].join(
      ' & ',
    ),
  );
  const heads = ['Part', ...metricKeys.map((metric) => metricShort[metric]), 'Overall', '$n$'];
  return [
    '% needs booktabs',
    `% ${summary.name}: protocol ${summary.protocol}, judge ${summary.judge}, ${summary.aggregation}; 95 % bootstrap intervals over roles`,
    `\\begin{tabular}{l${'r'.repeat(metricKeys.length + 2)}}`,
    '\\toprule',
    `${heads.join(' & ')} \\\\`,
    '\\midrule',
    ...rows.map((row) => `${row} \\\\`),
    '\\bottomrule',
    '\\end{tabular}',
    '',
  ].join('\n');
}

/**
 * Writes result files like the reference implementation: `single/<role>.json`, `multi/<role>.json`. Resolves to the
 * number of files.
 */
export async function writeResultFiles(view: RunView, folder: string): Promise<number> {
  const byFile = Map.groupBy(view.facts, ([, facts]) => path.join(facts.mode, `${facts.role}.json`));
  for (const [name, members] of byFile) {
    const dialogues = members
      .toSorted(([, a], [, b]) => a.index - b.index)
      .map(([id, { index }]) => {
        const measured = view.record.measured.get(id) ?? new Map<string, unknown>();
        const outcomes = readOutcomes(view.protocol, measured, view.config.parser);
        const scores = view.judged.find((sample) => sample.id === id)?.scores ?? {};
        const entries = metricKeys.flatMap((metric) => {
          const pair = scores[metric];
          if (pair === null || pair === undefined) return [];
          const reason = outcomes.find(({ ask }) => ask.metric === metric || ask.metric === 'all')?.text ?? '';
          return [[`${metric}_results`, { reason, score: [pair.test, pair.reference] }] as const];
        });
        return { idx: index, ...Object.fromEntries(entries) };
      });
    await writeFileAtomic(path.join(folder, name), `${JSON.stringify(dialogues, null, 4)}\n`);
  }
  return byFile.size;
}
