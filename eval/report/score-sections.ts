import { categoryGroups, metricKeys, metricShort } from '../speechrole/judging/metrics.ts';
import type { Estimate } from '../speechrole/summary/score-table.ts';
import type { RunSummary, SummaryCells, SummaryGroup } from '../speechrole/summary/summary.ts';
import { bars } from './bars.ts';
import { heatLegend, heatMap, type HeatRow } from './heat-map.ts';
import { escape, score } from './html.ts';
import { radar } from './radar.ts';

const names = metricKeys.map((metric) => metricShort[metric]);

/** Returns the groups shown in the plots: each language as a whole. */
function languages(summary: RunSummary): readonly SummaryGroup[] {
  return summary.groups.filter(({ key }) => key === 'en' || key === 'zh');
}

/** The paper's score table, with confidence intervals and coverage. */
export function scoreTable(summary: RunSummary): string {
  const head = ['', ...names, 'Overall', 'n', 'unscored', 'failed']
    .map((name) => `<th scope="col">${name}</th>`)
    .join('');
  const rows = summary.groups.map(({ key, label, row }) => {
    const cells = metricKeys.map((metric) => `<td>${estimate(row.metrics[metric])}</td>`).join('');
    const counts = `<td>${row.samples}</td><td>${row.overall.unscored}</td><td>${row.overall.failed}</td>`;
    const main = key.includes('/') ? '' : ' class="main"';
    return `<tr${main}><th scope="row">${escape(label)}</th>${cells}<td class="overall">${estimate(row.overall)}</td>${counts}</tr>`;
  });
  return `<div class="scroll"><table class="scores"><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>
<p class="note">Ratio to the reference, ${summary.aggregation === 'mean-of-ratios' ? 'mean over dialogues' : 'sum over sum'}; Overall is the mean of the eight. Small: 95 % intervals, drawn over roles. n: dialogues; unscored and failed: judgments of all metrics together, left out and never counted as 0.</p>`;
}

function estimate({ value, low, high }: Estimate): string {
  const interval = low === null || high === null ? '' : `<small>${low.toFixed(2)}–${high.toFixed(2)}</small>`;
  return `${score(value, 4)}${interval}`;
}

/** Radar and bar plots. */
export function plots(summary: RunSummary): string {
  const shown = languages(summary).map(({ label, row, key }) => ({
    label,
    className: key === 'en' ? 'series-0' : 'series-1',
    estimates: metricKeys.map((metric) => row.metrics[metric]),
  }));
  if (shown.length === 0) return '<p class="note">Nothing is scored yet.</p>';
  const series = shown.map(({ label, className, estimates }) => ({
    label,
    className,
    values: estimates.map(({ value }) => value),
  }));
  const withIntervals = shown.map(({ label, className, estimates }) => ({ label, className, values: estimates }));
  const legend = shown
    .map(({ label, className }) => `<span><i class="${className}"></i>${escape(label)}</span>`)
    .join('');
  return `<div class="plots"><figure>${radar(names, series)}</figure><figure>${bars(names, withIntervals)}<p class="legend">${legend}<span><i class="line"></i>the reference</span></p></figure></div>`;
}

/** Win, tie and loss rates of the system against the reference, over all judgments. */
export function duels(summary: RunSummary): string {
  const rows = languages(summary).map(({ label, row }) => {
    const total = Math.max(1, row.wins + row.ties + row.losses);
    const part = (name: string, words: string, count: number): string =>
      count === 0
        ? ''
        : `<span class="${name}" style="flex:${count}" title="${count} judgments">${Math.round((100 * count) / total)} %${12 * count < total ? '' : ` ${words}`}</span>`;
    const low = row.lowReferences === 0 ? '' : ` · ${row.lowReferences} references with 2 points or less`;
    return `<div class="duel"><b>${escape(label)}</b><div>${part('wins', 'better', row.wins)}${part('ties', 'equal', row.ties)}${part('losses', 'worse', row.losses)}</div><small>mean difference ${signed(row.difference)} points${low}</small></div>`;
  });
  return `${rows.join('')}<p class="note">How often the system was judged better than the reference, equal, or worse, over all metrics.</p>`;
}

function signed(value: number | null): string {
  return value === null ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

/** Heat map by sub-task, in the paper's three groups. */
export function categoryMap(summary: RunSummary): string {
  const left = new Set(summary.byCategory);
  const groups = Object.entries(categoryGroups).map(([heading, members]) => {
    const rows = members.flatMap((name) => summary.byCategory.filter(({ label }) => label === name));
    for (const row of rows) left.delete(row);
    return { heading, rows: rows.map(asHeatRow) };
  });
  const others = { heading: 'Others', rows: [...left].map(asHeatRow) };
  const shown = [...groups, others].filter(({ rows }) => rows.length > 0);
  return heatLegend() + heatMap([...names, 'Overall'], shown);
}

/** Heat map by role, best first, English and Chinese apart. */
export function roleMap(summary: RunSummary): string {
  const groups = (['en', 'zh'] as const).map((language) => ({
    heading: language === 'en' ? 'English' : 'Chinese',
    rows: summary.byRole
      .filter((row) => row.language === language)
      .toSorted((a, b) => (b.overall ?? -1) - (a.overall ?? -1))
      .map(asHeatRow),
  }));
  return (
    heatLegend() +
    heatMap(
      [...names, 'Overall'],
      groups.filter(({ rows }) => rows.length > 0),
    )
  );
}

function asHeatRow({ label, n, values, overall }: SummaryCells): HeatRow {
  return { label, note: `n ${n}`, values: [...values, overall] };
}
