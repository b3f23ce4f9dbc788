import { uncheckedNote } from '../../benchmark.ts';
import { table, tableInParts } from '../../../server/terminal/table.ts';
import { printable } from '../../../server/terminal/text.ts';
import type { JudgeHealth } from '../judging/judge-health.ts';
import { metricKeys, metricShort } from '../judging/metrics.ts';
import { coverageNote, coverageText, type Estimate, type PairedDifference, type ScoreRow } from './score-table.ts';
import type { RunSummary } from './summary.ts';

const shortNames = metricKeys.map((metric) => metricShort[metric]);

/**
 * Formats the paper's table, then the overall score with its interval and coverage. Each fits 80 columns if the labels
 * are short.
 */
export function scoreTableText(groups: readonly { readonly label: string; readonly row: ScoreRow }[]): string {
  const metrics = table(
    ['', ...shortNames],
    groups.map(({ label, row }) => [label, ...metricKeys.map((metric) => scoreText(row.metrics[metric].value))]),
    { numbers: true },
  );
  const overall = table(
    ['', 'Overall', '95 %', 'scored', 'unscored', 'failed'],
    groups.map(({ label, row }) => [
      label,
      scoreText(row.overall.value),
      intervalText(row.overall),
      coverageText(row),
      String(row.overall.unscored),
      String(row.overall.failed),
    ]),
    { numbers: true },
  );
  const note = groups.some(({ row }) => coverageText(row).endsWith('†')) ? `\n${coverageNote}` : '';
  return `${metrics}\n\n${overall}${note}`;
}

/** Formats a score with four decimals, as in the paper; null as a dash. */
export function scoreText(value: number | null): string {
  return value === null ? '–' : value.toFixed(4);
}

export function intervalText({ low, high }: Pick<Estimate, 'low' | 'high'>): string {
  return low === null || high === null ? '–' : `${low.toFixed(3)}–${high.toFixed(3)}`;
}

/** Formats a run's scores for a terminal. */
export function summaryText(summary: RunSummary): string {
  const { name, protocol, judge, isJudgeChecked, aggregation, parser, samples, answered, fallbacks, unheard } = summary;
  const { groups, health, waits, cues, failures } = summary;
  const lines = [
    `${name}: ${answered} of ${samples} dialogues answered`,
    fallbacks === 0 ? [] : `  ${fallbacks} replies were fallbacks for the LLM of the system`,
    unheard === 0 ? [] : `  ${unheard} turns in which the system understood nothing`,
    `protocol ${protocol}, judge ${judge}`,
    `${aggregation}, ${parser} parser`,
    isJudgeChecked ? [] : uncheckedNote,
    '',
    // Subsets of a language are indented below it.
    judge === 'none' || groups.length === 0
      ? 'Not judged.'
      : scoreTableText(groups.map(({ label, row }) => ({ label: label.replace(/^\w+, /, '  '), row }))),
    ...(judge === 'none' ? [] : summary.notes),
    '',
    judge === 'none' ? '' : healthText(health),
    waits.n === 0
      ? ''
      : `first audio: ${waits.median?.toFixed(0)} ms (median), ${waits.p95?.toFixed(0)} ms (p95), n ${waits.n}`,
    ...cues.map(
      ({ name, language, value, n, missing }) =>
        `${name} (${language}): ${value === null ? '–' : value.toFixed(3)}, n ${n}${Object.entries(missing)
          .map(([why, count]) => `; ${count} without: ${why}`)
          .join('')}`,
    ),
    ...Object.entries(failures).map(([code, { count, message }]) => printable(`failed ${count} × ${code}: ${message}`)),
  ].flat();
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trimEnd();
}

/** Formats the judge's reliability statistics in a few lines. */
export function healthText(health: JudgeHealth): string {
  const { asked, scored, unparsed, refused, failed, repeatedReplies, swapped, flips, firstWinsBoth, secondWinsBoth } =
    health;
  const share = (count: number): string => (swapped === 0 ? '–' : `${((100 * count) / swapped).toFixed(1)} %`);
  return [
    `judge: ${asked} questions answered, ${repeatedReplies} asked again`,
    `  ${scored} scored, ${unparsed} unreadable, ${refused} refused, ${failed} failed`,
    swapped === 0 ? 'order: never swapped' : `order: ${swapped} swapped pairs, ${share(flips)} flipped`,
    swapped === 0
      ? ''
      : `  first wins both ${share(firstWinsBoth)}, second ${share(secondWinsBoth)}; advantage of the first ${health.firstAdvantage?.toFixed(2)} points`,
    health.repeatDeviation === null ? '' : `repeats: standard deviation ${health.repeatDeviation.toFixed(2)} points`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Formats a comparison of two runs as a table. */
export function comparisonText(differences: readonly PairedDifference[], names: readonly [string, string]): string {
  return tableInParts(
    ['', ...names, 'difference', '95 %', 'p (Holm)', 'n'],
    differences.map(({ metric, a, b, difference, low, high, p, n }) => [
      metric,
      scoreText(a),
      scoreText(b),
      difference === null ? '–' : `${difference < 0 ? '' : '+'}${difference.toFixed(4)}`,
      intervalText({ low, high }),
      p === null ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3),
      String(n),
    ]),
    { numbers: true },
  );
}
