import type { Exported } from '../benchmark.ts';
import { formatCsv } from '../csv.ts';
import type { TextConfig } from './config.ts';
import { textRunName, type TextRun } from './run.ts';
import { summarizeText } from './summary.ts';
import { columnsOf, coverageNote, coverageOf, figureText, rangeText } from './tables.ts';
import type { SampleFacts, TextTask } from './text-task.ts';

/** Values of `--format`. */
export const textFormats = ['csv', 'json', 'latex', 'outputs'] as const;

/** Formats a run in one of `textFormats`. */
export function exportText<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
  format: string,
): Exported {
  if (format === 'csv') return { file: 'results.csv', text: scoresCsv(run) };
  if (format === 'latex') return { file: 'table.tex', text: latexOf(task, run) };
  if (format === 'outputs') return { file: 'outputs.jsonl', text: outputLines(task, run) };
  return { file: 'summary.json', text: `${JSON.stringify(summarizeText(task, run), null, 2)}\n` };
}

/** One row a score; a missing one is an empty cell with its reason. */
function scoresCsv(run: TextRun<TextConfig, SampleFacts, unknown>): string {
  const system = textRunName(run);
  return formatCsv(
    run.scored.flatMap(({ id, group, scores }) => {
      const { role = '', language = '' } = run.facts.get(id) ?? {};
      return scores.map(({ name, value, why = '' }, item) => {
        return { sample: id, system, role, group, language, item, metric: name, value, why };
      });
    }),
  );
}

function outputLines<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
): string {
  const rows = [...run.facts].flatMap(([id, facts]) => {
    const output = run.outputOf(id);
    return output === undefined ? [] : [`${JSON.stringify(task.exportRow(facts, output))}\n`];
  });
  return rows.join('');
}

function latexOf<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
): string {
  const { rows, name, protocol, judge, isJudgeChecked, path } = summarizeText(task, run);
  const columns = columnsOf(task);
  const lines = rows.map(({ label, cells }) => {
    const figures = columns.map((column) => {
      const cell = cells[column.key];
      if (cell === undefined || cell.value === null) return '--';
      const range = rangeText(cell, column);
      const shown = `${figureText(cell.value, column)} (${coverageOf(cell).replace('†', '\\dag')})`;
      return range === '–' ? shown : `\\shortstack{${shown}\\\\{\\tiny [${range}]}}`;
    });
    return `${escaped(label)} & ${figures.join(' & ')} \\\\`;
  });
  return [
    '% needs booktabs',
    `% ${name}, over ${path}: protocol ${protocol}, judge ${judge}; 95 % bootstrap intervals over groups; ${coverageNote}`,
    ...(isJudgeChecked ? [] : ['% judge not checked']),
    `\\begin{tabular}{l${'r'.repeat(columns.length)}}`,
    '\\toprule',
    `Part & ${columns.map(({ label }) => escaped(label)).join(' & ')} \\\\`,
    '\\midrule',
    ...lines,
    '\\bottomrule',
    '\\end{tabular}',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll(/[&%$#_{}]/g, (character) => `\\${character}`);
}
