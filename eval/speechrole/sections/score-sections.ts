import { categoryGroups, metricKeys, metricShort } from '../judging/metrics.ts';
import { coverageNote, coverageText, type Estimate } from '../summary/score-table.ts';
import type { RunSummary, SummaryCells, SummaryGroup } from '../summary/summary.ts';
import { html, nothing, score, scrollTable, svg, svgText, type Content, type Markup } from '../../report/html.ts';
import { radar } from '../../report/radar.ts';
import { heatColors } from '../../report/heat-colors.ts';

const names = metricKeys.map((metric) => metricShort[metric]);

/** Returns the groups shown in the plots: each language as a whole. */
function languages(summary: RunSummary): readonly SummaryGroup[] {
  return summary.groups.filter(({ key }) => key === 'en' || key === 'zh');
}

/** The paper's score table, with confidence intervals and coverage. */
export function scoreTable(summary: RunSummary): Markup {
  const head = ['', ...names, 'Overall', 'scored', 'unscored', 'failed'].map(
    (name) => html`<th scope="col">${name}</th>`,
  );
  const rows = summary.groups.map(({ key, label, row }) => {
    const cells = metricKeys.map((metric) => html`<td>${estimate(row.metrics[metric])}</td>`);
    const counts = html`<td>${coverageText(row)}</td>
      <td>${row.overall.unscored}</td>
      <td>${row.overall.failed}</td>`;
    const main = key.includes('/') ? nothing : html` class="main"`;
    return html`<tr${main}><th scope="row">${label}</th>${cells}<td class="overall">${estimate(row.overall)}</td>${counts}</tr>`;
  });
  return html`${scrollTable('scores', head, rows)}
    <p class="note">
      Ratio to the reference, ${summary.aggregation === 'mean-of-ratios' ? 'mean over dialogues' : 'sum over sum'};
      Overall is the mean of the eight. Small: 95 % intervals, drawn over roles. Scored: dialogues with scores, in the
      metric that has the fewest, of those chosen (${coverageNote}); unscored and failed: judgments of all metrics
      together, left out and never counted as 0. ${summary.notes.join(' ')}
    </p>`;
}

function estimate({ value, low, high }: Estimate): Markup {
  const interval = low === null || high === null ? nothing : html`<small>${low.toFixed(2)}–${high.toFixed(2)}</small>`;
  return html`${score(value, 4)}${interval}`;
}

/** Radar and bar plots. */
export function plots(summary: RunSummary): Markup {
  const shown = languages(summary).map(({ label, row, key }) => ({
    label,
    className: key === 'en' ? 'series-0' : 'series-1',
    estimates: metricKeys.map((metric) => row.metrics[metric]),
  }));
  if (shown.length === 0) return html`<p class="note">Nothing is scored yet.</p>`;
  const series = shown.map(({ label, className, estimates }) => ({
    label,
    className,
    values: estimates.map(({ value }) => value),
  }));
  const withIntervals = shown.map(({ label, className, estimates }) => ({ label, className, values: estimates }));
  const legend = shown.map(({ label, className }) => html`<span><i class="${className}"></i>${label}</span>`);
  return html`<div class="plots">
    <figure>${radar(names, series)}</figure>
    <figure>
      ${bars(names, withIntervals)}
      <p class="legend">
        ${legend}<span><i class="line"></i>the reference</span>
      </p>
    </figure>
  </div>`;
}

/** Win, tie and loss rates of the system against the reference, over all judgments. */
export function winRates(summary: RunSummary): Markup {
  const rows = languages(summary).map(({ label, row }) => {
    const total = Math.max(1, row.wins + row.ties + row.losses);
    const part = (name: string, words: string, count: number): Markup =>
      count === 0
        ? nothing
        : html`<span class="${name}" style="flex:${count}" title="${count} judgments"
            >${Math.round((100 * count) / total)} %${12 * count < total ? '' : ` ${words}`}</span
          >`;
    const low = row.lowReferences === 0 ? '' : ` · ${row.lowReferences} references with 2 points or less`;
    return html`<div class="duel">
      <b>${label}</b>
      <div>
        ${part('wins', 'better', row.wins)}${part('ties', 'equal', row.ties)}${part('losses', 'worse', row.losses)}
      </div>
      <small>mean difference ${signed(row.difference)} points${low}</small>
    </div>`;
  });
  return html`${rows}
    <p class="note">How often the system was judged better than the reference, equal, or worse, over all metrics.</p>`;
}

function signed(value: number | null): string {
  return value === null ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

/** Heat map by sub-task, in the paper's three groups. */
export function categoryMap(summary: RunSummary): Markup {
  const left = new Set(summary.byCategory);
  const groups = Object.entries(categoryGroups).map(([heading, members]) => {
    const rows = members.flatMap((name) => summary.byCategory.filter(({ label }) => label === name));
    for (const row of rows) left.delete(row);
    return { heading, rows: rows.map(asHeatRow) };
  });
  const others = { heading: 'Others', rows: [...left].map(asHeatRow) };
  const shown = [...groups, others].filter(({ rows }) => rows.length > 0);
  return html`${heatLegend()}${heatMap([...names, 'Overall'], shown)}`;
}

/** Heat map by role, best first, English and Chinese apart. */
export function roleMap(summary: RunSummary): Markup {
  const groups = (['en', 'zh'] as const).map((language) => ({
    heading: language === 'en' ? 'English' : 'Chinese',
    rows: summary.byRole
      .filter((row) => row.language === language)
      .toSorted((a, b) => (b.overall ?? -1) - (a.overall ?? -1))
      .map(asHeatRow),
  }));
  const shown = groups.filter(({ rows }) => rows.length > 0);
  return html`${heatLegend()}${heatMap([...names, 'Overall'], shown)}`;
}

function asHeatRow({ label, coverage, values, overall }: SummaryCells): HeatRow {
  return { label, note: coverage, values: [...values, overall] };
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
function bars(names: readonly string[], series: readonly BarSeries[], width = 640): Markup {
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
  const grid = ticks.map((value) => [
    html`<line
      x1="${margin.left}"
      x2="${width - margin.right}"
      y1="${y(value).toFixed(1)}"
      y2="${y(value).toFixed(1)}"
      class="${value === 1 ? 'ring reference' : 'ring'}"
    />`,
    svgText(margin.left - 7, y(value) + 4, value.toFixed(2), { anchor: 'end', className: 'tick' }),
  ]);
  const drawn = names.map((name, at) => {
    const centre = margin.left + group * (at + 0.5);
    const each = series.map(({ values, className, label }, index) => {
      const estimate = values[at];
      if (estimate === undefined || estimate.value === null) return nothing;
      const { value, low, high } = estimate;
      const x = centre + (index - series.length / 2) * bar + 1.5;
      const middle = x + (bar - 3) / 2;
      const title = html`<title>
        ${label}, ${name}:
        ${value.toFixed(4)}${low === null || high === null ? '' : ` (${low.toFixed(3)}–${high.toFixed(3)})`}
      </title>`;
      const box = html`<rect
        x="${x.toFixed(1)}"
        y="${y(value).toFixed(1)}"
        width="${(bar - 3).toFixed(1)}"
        height="${(y(0) - y(value)).toFixed(1)}"
        rx="2.5"
        class="bar ${className}"
        >${title}</rect
      >`;
      return [box, low === null || high === null ? nothing : whisker(middle, y(low), y(high))];
    });
    return [each, svgText(centre, height - 12, name, { anchor: 'middle', className: 'axis' })];
  });
  const label = series.map(
    (each) => `${each.label}: ${each.values.map(({ value }) => value?.toFixed(2) ?? 'none').join(', ')}`,
  );
  return svg(width, height, `Bar plot. ${label.join('. ')}`, [grid, drawn]);
}

function whisker(x: number, low: number, high: number): Content {
  const cap = (at: number): Markup =>
    html`<line
      x1="${(x - 4).toFixed(1)}"
      x2="${(x + 4).toFixed(1)}"
      y1="${at.toFixed(1)}"
      y2="${at.toFixed(1)}"
      class="whisker"
    />`;
  const stem = html`<line
    x1="${x.toFixed(1)}"
    x2="${x.toFixed(1)}"
    y1="${low.toFixed(1)}"
    y2="${high.toFixed(1)}"
    class="whisker"
  />`;
  return [stem, cap(low), cap(high)];
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
): Markup {
  const body = groups.map(({ heading, rows }) => {
    const head =
      heading === ''
        ? nothing
        : html`<tr class="group">
            <th colspan="${columns.length + 1}">${heading}</th>
          </tr>`;
    return [head, rows.map(heatRow)];
  });
  const heads = columns.map((name) => html`<th scope="col">${name}</th>`);
  return scrollTable(
    'heat',
    html`<th></th>
      ${heads}`,
    body,
  );
}

function heatRow({ label, note, values }: HeatRow): Markup {
  const cells = values.map((value) => {
    const { fill, ink } = heatColors(value);
    return html`<td style="background:${fill};color:${ink}">${score(value)}</td>`;
  });
  const small = note === '' ? nothing : html` <small>${note}</small>`;
  return html`<tr>
    <th scope="row">${label}${small}</th>
    ${cells}
  </tr>`;
}

/** Renders the colour scale's legend. */
function heatLegend(): Markup {
  const steps = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8];
  const cells = steps.map((value) => {
    const { fill, ink } = heatColors(value);
    return html`<span style="background:${fill};color:${ink}">${value.toFixed(1)}</span>`;
  });
  return html`<p class="legend heat-legend">
    <span class="word">worse than the reference</span>${cells}<span class="word">better</span>
  </p>`;
}
