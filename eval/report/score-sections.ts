import { categoryGroups, metricKeys, metricShort } from '../speechrole/judging/metrics.ts';
import type { Estimate } from '../speechrole/summary/score-table.ts';
import type { RunSummary, SummaryCells, SummaryGroup } from '../speechrole/summary/summary.ts';
import { escape, score, svg, svgText } from './html.ts';
import { radar } from './radar.ts';
import { heatColors } from './heat-colors.ts';

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
export function winRates(summary: RunSummary): string {
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

interface BarSeries {
  readonly label: string;
  readonly className: string;
  readonly values: readonly {
    readonly value: number | null;
    readonly low: number | null;
    readonly high: number | null;
  }[];
}

const height = 320;

const margin = { top: 14, right: 12, bottom: 34, left: 40 };

/** Grouped bar plot with confidence intervals, one group per name; the line at 1 is the reference. */
function bars(names: readonly string[], series: readonly BarSeries[], width = 640): string {
  const highest = Math.max(
    1,
    ...series.flatMap(({ values }) => values.map(({ value, high }) => Math.max(value ?? 0, high ?? 0))),
  );
  const top = Math.ceil(highest * 4 + 0.2) / 4;
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const y = (value: number): number => margin.top + inner.height * (1 - Math.min(value, top) / top);
  const group = inner.width / names.length;
  const bar = Math.min(26, (group * 0.72) / Math.max(1, series.length));
  const step = top > 2 ? 0.5 : 0.25;
  const ticks = Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => index * step);
  const grid = ticks.map(
    (value) =>
      `<line x1="${margin.left}" x2="${width - margin.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" class="${value === 1 ? 'ring reference' : 'ring'}"/>` +
      svgText(margin.left - 7, y(value) + 4, value.toFixed(2), { anchor: 'end', className: 'tick' }),
  );
  const drawn = names.map((name, at) => {
    const centre = margin.left + group * (at + 0.5);
    const each = series.map(({ values, className, label }, index) => {
      const estimate = values[at];
      if (estimate === undefined || estimate.value === null) return '';
      const { value, low, high } = estimate;
      const x = centre + (index - series.length / 2) * bar + 1.5;
      const middle = x + (bar - 3) / 2;
      const title = `<title>${label}, ${name}: ${value.toFixed(4)}${low === null || high === null ? '' : ` (${low.toFixed(3)}–${high.toFixed(3)})`}</title>`;
      const box = `<rect x="${x.toFixed(1)}" y="${y(value).toFixed(1)}" width="${(bar - 3).toFixed(1)}" height="${(y(0) - y(value)).toFixed(1)}" rx="2.5" class="bar ${className}">${title}</rect>`;
      return box + (low === null || high === null ? '' : whisker(middle, y(low), y(high)));
    });
    return each.join('') + svgText(centre, height - 12, name, { anchor: 'middle', className: 'axis' });
  });
  const label = series.map(
    (each) => `${each.label}: ${each.values.map(({ value }) => value?.toFixed(2) ?? 'none').join(', ')}`,
  );
  return svg(width, height, `Bar plot. ${label.join('. ')}`, [...grid, ...drawn].join(''));
}

function whisker(x: number, low: number, high: number): string {
  const cap = (at: number): string =>
    `<line x1="${(x - 4).toFixed(1)}" x2="${(x + 4).toFixed(1)}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" class="whisker"/>`;
  const stem = `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${low.toFixed(1)}" y2="${high.toFixed(1)}" class="whisker"/>`;
  return stem + cap(low) + cap(high);
}

interface HeatRow {
  readonly label: string;
  readonly note: string;
  readonly values: readonly (number | null)[];
}

/** Renders a table whose cells are coloured by their ratio to the reference, with a heading per group. */
function heatMap(
  columns: readonly string[],
  groups: readonly { readonly heading: string; readonly rows: readonly HeatRow[] }[],
): string {
  const body = groups.map(({ heading, rows }) => {
    const head =
      heading === '' ? '' : `<tr class="group"><th colspan="${columns.length + 1}">${escape(heading)}</th></tr>`;
    return head + rows.map(heatRow).join('');
  });
  const heads = columns.map((name) => `<th scope="col">${escape(name)}</th>`).join('');
  return `<div class="scroll"><table class="heat"><thead><tr><th></th>${heads}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function heatRow({ label, note, values }: HeatRow): string {
  const cells = values.map((value) => {
    const { fill, ink } = heatColors(value);
    return `<td style="background:${fill};color:${ink}">${score(value)}</td>`;
  });
  const small = note === '' ? '' : ` <small>${escape(note)}</small>`;
  return `<tr><th scope="row">${escape(label)}${small}</th>${cells.join('')}</tr>`;
}

/** Renders the colour scale's legend. */
function heatLegend(): string {
  const steps = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8];
  const cells = steps.map((value) => {
    const { fill, ink } = heatColors(value);
    return `<span style="background:${fill};color:${ink}">${value.toFixed(1)}</span>`;
  });
  return `<p class="legend heat-legend"><span class="word">worse than the reference</span>${cells.join('')}<span class="word">better</span></p>`;
}
