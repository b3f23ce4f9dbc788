import { html, nothing, svg, svgText, type Markup } from './html.ts';

export interface RadarSeries {
  readonly label: string;
  /** CSS class that colours the series. */
  readonly className: string;
  readonly values: readonly (number | null)[];
}

const size = 420;
const middle = size / 2;
const reach = 150;

/** Radar plot of ratios; the ring at 1 is the reference. */
export function radar(axes: readonly string[], series: readonly RadarSeries[]): Markup {
  const largest = Math.max(1, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const top = Math.ceil(largest * 5) / 5;
  const point = (axis: number, value: number): readonly [number, number] => {
    const angle = (2 * Math.PI * axis) / axes.length - Math.PI / 2;
    const radius = (value / top) * reach;
    return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
  };
  const polygon = (values: readonly number[], className: string): Markup => {
    const points = values.map((value, axis) =>
      point(axis, value)
        .map((at) => at.toFixed(1))
        .join(','),
    );
    return html`<polygon points="${points.join(' ')}" class="${className}" />`;
  };
  const step = top > 1.4 ? 0.5 : 0.25;
  const rings = Array.from({ length: Math.floor(top / step + 1e-9) }, (_, index) => (index + 1) * step);
  // The reference ring at 1 is always drawn.
  const all = [...new Set([...rings, 1])].toSorted((a, b) => a - b);
  const grid = all.map((value) =>
    polygon(
      axes.map(() => value),
      `ring${value === 1 ? ' reference' : ''}`,
    ),
  );
  const spokes = axes.map((_, axis) => {
    const [x, y] = point(axis, top);
    return html`<line x1="${middle}" y1="${middle}" x2="${x.toFixed(1)}" y2="${y.toFixed(1)}" class="spoke" />`;
  });
  const names = axes.map((name, axis) => {
    const [x, y] = point(axis, top * 1.13);
    const anchor = Math.abs(x - middle) < 8 ? 'middle' : x > middle ? 'start' : 'end';
    return svgText(x, y + 5, name, { anchor, className: 'axis' });
  });
  const scale = all.map((value) => {
    const [x, y] = point(0, value);
    return svgText(x + 4, y - 3, value.toFixed(2), { className: 'tick' });
  });
  const shapes = series.map(({ values, className }) => {
    const dots = values.map((value, axis) => {
      if (value === null) return nothing;
      const [x, y] = point(axis, value);
      return html`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.2" class="dot ${className}" />`;
    });
    const area = polygon(
      values.map((value) => value ?? 0),
      `area ${className}`,
    );
    return [area, ...dots];
  });
  const label = series.map((each) => `${each.label}: ${each.values.map((v) => v?.toFixed(2) ?? 'none').join(', ')}`);
  return svg(size, size, `Radar plot. ${label.join('. ')}`, [grid, spokes, shapes, names, scale]);
}
