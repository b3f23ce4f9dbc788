import { html, nothing, svg, svgText, type Markup } from './html.ts';

/** A point of a scatter plot. */
export interface ScatterPoint {
  readonly label: string;
  /** Name of all points at this `x`. */
  readonly column: string;
  readonly x: number;
  readonly y: number;
  /** Interval of `y`; nulls without one. */
  readonly low: number | null;
  readonly high: number | null;
}

const size = 420;
const [left, top, right, bottom] = [56, 16, 396, 356];

/** Scatter plot on equal axes with the diagonal y = x, and intervals as vertical bars. */
export function scatter(
  points: readonly ScatterPoint[],
  { x, y, digits }: { readonly x: string; readonly y: string; readonly digits: number },
): Markup {
  const all = points.flatMap((point) => [point.x, point.y, ...[point.low, point.high].filter((end) => end !== null)]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const margin = Math.max((most - least) * 0.1, 10 ** -digits);
  // Below is room for the names of the columns.
  const [from, to] = [least - 1.5 * margin, most + margin];
  const across = (value: number): number => left + ((value - from) / (to - from)) * (right - left);
  const up = (value: number): number => bottom - ((value - from) / (to - from)) * (bottom - top);
  const line = (className: string, ...[x1, y1, x2, y2]: readonly number[]): Markup =>
    html`<line
      x1="${(x1 ?? 0).toFixed(1)}"
      y1="${(y1 ?? 0).toFixed(1)}"
      x2="${(x2 ?? 0).toFixed(1)}"
      y2="${(y2 ?? 0).toFixed(1)}"
      class="${className}"
    />`;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => from + share * (to - from));
  const grid = ticks.map((value) => [
    line('spoke', across(value), top, across(value), bottom),
    line('spoke', left, up(value), right, up(value)),
    svgText(across(value), bottom + 16, value.toFixed(digits), { anchor: 'middle', className: 'tick' }),
    svgText(left - 6, up(value) + 4, value.toFixed(digits), { anchor: 'end', className: 'tick' }),
  ]);
  const marks = points.map((point) => {
    const [px, py] = [across(point.x), up(point.y)];
    const { low, high } = point;
    return [
      low === null || high === null ? nothing : line('whisker', px, up(low), px, up(high)),
      html`<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="4" class="dot series-0" />`,
      svgText(px + 7, py + 4, point.label),
    ];
  });
  const columns = [...new Map(points.map((point) => [point.column, point.x]))].map(([column, value], at) =>
    // Labels of neighbours are on two lines.
    svgText(across(value), bottom - 6 - 14 * (at % 2), column, { anchor: 'middle', className: 'strong' }),
  );
  const told = points.map(
    ({ label, column, x: at, y: value }) => `${label} on ${column}: ${at.toFixed(digits)}, ${value.toFixed(digits)}`,
  );
  return svg(size, size - 16, `Scatter plot. ${x} against ${y}. ${told.join('. ')}`, [
    grid,
    line('mark', left, bottom, right, top),
    marks,
    columns,
    svgText((left + right) / 2, bottom + 38, x, { anchor: 'middle', className: 'axis' }),
    svgText(left, top - 4, y, { className: 'axis' }),
  ]);
}
