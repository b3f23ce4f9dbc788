import { svg, svgText } from './html.ts';

export interface BarSeries {
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
export function bars(names: readonly string[], series: readonly BarSeries[], width = 640): string {
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
