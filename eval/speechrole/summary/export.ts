import path from 'node:path';
import { formatCsv } from '../../csv.ts';
import { readOutcomes } from '../judging/judge-scorer.ts';
import { metricKeys, metricShort } from '../judging/metrics.ts';
import type { RunView } from '../run-view.ts';
import type { RunSummary } from './summary.ts';
import { coverageNote, coverageText, type Estimate } from './score-table.ts';
import { ratioOf } from '../judging/scores.ts';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { copyFile, mkdir } from 'node:fs/promises';

/** Formats one CSV row per dialogue and metric; a missing score is an empty cell. */
export function resultsCsv(view: RunView, system: string): string {
  return formatCsv(
    view.judged.flatMap((sample) => {
      const answers = view.outputOf(sample.id)?.answers ?? [];
      const fallbacks = answers.filter(({ fallback }) => typeof fallback === 'string').length;
      return metricKeys.map((metric) => {
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
          fallbacks,
        };
      });
    }),
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
    [
      label,
      ...metricKeys.map((metric) => cell(row.metrics[metric])),
      cell(row.overall),
      coverageText(row).replace('†', '\\dag'),
    ].join(' & '),
  );
  const heads = ['Part', ...metricKeys.map((metric) => metricShort[metric]), 'Overall', 'Scored'];
  return [
    '% needs booktabs',
    `% ${summary.name}: protocol ${summary.protocol}, judge ${summary.judge}, ${summary.aggregation}; 95 % bootstrap intervals over roles`,
    ...(summary.isJudgeChecked ? [] : ['% judge not checked']),
    `\\begin{tabular}{l${'r'.repeat(metricKeys.length + 2)}}`,
    '\\toprule',
    `${heads.join(' & ')} \\\\`,
    '\\midrule',
    ...rows.map((row) => `${row} \\\\`),
    '\\bottomrule',
    '\\end{tabular}',
    ...(rows.some((row) => row.includes('\\dag')) ? [`% ${coverageNote}`] : []),
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

/**
 * Writes the system's answers in the form that SpeechRole's own judge reads: `{single,multi}_result/json/<role>.json`
 * beside the recordings, whose paths begin with `model_output/<name>`. `folder` is such a folder. Skips
 * dialogues with any answer that has no audio. Resolves to the number of dialogues written.
 */
export async function writeOutputs(view: RunView, folder: string): Promise<number> {
  const name = path.basename(folder);
  let written = 0;
  for (const members of Map.groupBy(view.facts, ([, { mode, role }]) => `${mode}/${role}`).values()) {
    const [, { mode, role }] = members[0] as (typeof members)[number];
    const place = path.join(`${mode}_result`, 'audio', role);
    const dialogues: Record<string, object[]> = {};
    for (const [id, { index, turns }] of members) {
      const answers = view.outputOf(id)?.answers ?? [];
      if (answers.length < turns.length || answers.some(({ audio }) => audio === null)) continue;
      await mkdir(path.join(folder, place), { recursive: true });
      dialogues[`dialogue_${index}`] = await Promise.all(
        answers.map(async ({ text, audio }, turn) => {
          const file = path.join(place, `${role}_${index}_${turn}.wav`);
          await copyFile(view.audio.pathOf(audio as string), path.join(folder, file));
          const audioPath = ['model_output', name, ...file.split(path.sep)].join('/');
          return { turn, user_input: { text: turns[turn]?.text ?? '' }, model_output: { text, audio_path: audioPath } };
        }),
      );
      written += 1;
    }
    const file = path.join(folder, `${mode}_result`, 'json', `${role}.json`);
    await writeFileAtomic(file, `${JSON.stringify({ role, ...dialogues }, null, 4)}\n`);
  }
  return written;
}
