import type { RunView } from '../run-view.ts';
import type { RunSummary } from '../summary/summary.ts';
import { mean, quantile } from '../../statistics.ts';
import { html, nothing, svg, svgText, type Content, type Markup } from '../../report/html.ts';

/** Latency histogram, and the mean share of each component. */
export function waitSection(view: RunView, summary: RunSummary): Markup {
  if (summary.waits.n === 0) return html`<p class="note">No waits were measured: these answers existed before.</p>`;
  const owners = new Map<string, number[]>();
  for (const sample of view.facts.keys()) {
    for (const { latency } of view.outputOf(sample)?.answers ?? []) {
      const shares = (latency as { owners?: Record<string, number | null> } | null)?.owners ?? {};
      for (const [owner, ms] of Object.entries(shares))
        if (typeof ms === 'number') owners.set(owner, [...(owners.get(owner) ?? []), ms]);
    }
  }
  const parts = [...owners].map(([name, values]) => ({ name, value: mean(values) ?? 0 }));
  const { userText, speed } = view.config;
  const from = userText ? 'the user’s text' : 'the end of the user’s speech';
  const caveat = userText || speed === 1 ? '' : `; recordings were streamed ${speed} × as fast as spoken`;
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const shares =
    total === 0
      ? nothing
      : html`<figure>
          <figcaption>Who owns the wait, mean over ${summary.waits.n} turns</figcaption>
          ${stackedBar(parts, 'ms')}
        </figure>`;
  return html`<div class="waits">
    <figure>
      <figcaption>
        From ${from} to the first sound of the answer, at the client; ${summary.waits.n} turns${caveat}
      </figcaption>
      ${histogram(summary.waits.all, 'Waits')}
    </figure>
    ${shares}
  </div>`;
}

const size = { width: 640, height: 240 };

const margin = { top: 26, right: 16, bottom: 40, left: 40 };

/** Histogram of durations in milliseconds, with median and 95th percentile. `sorted` must not be empty. */
function histogram(sorted: readonly number[], what: string): Markup {
  const end = niceEnd(quantile(sorted, 0.99) ?? 1);
  const count = 32;
  const bins = Array.from({ length: count }, () => 0);
  for (const value of sorted) {
    const bin = Math.min(count - 1, Math.floor((value / end) * count));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const inner = { width: size.width - margin.left - margin.right, height: size.height - margin.top - margin.bottom };
  const most = Math.max(...bins);
  const x = (value: number): number => margin.left + (Math.min(value, end) / end) * inner.width;
  const floor = size.height - margin.bottom;
  const boxes = bins.map((number, bin) => {
    const high = (number / most) * inner.height;
    const left = margin.left + (bin / count) * inner.width;
    const title = html`<title>
      ${Math.round((bin / count) * end)}–${Math.round(((bin + 1) / count) * end)} ms: ${number}
    </title>`;
    return html`<rect
      x="${(left + 0.8).toFixed(1)}"
      y="${(floor - high).toFixed(1)}"
      width="${(inner.width / count - 1.6).toFixed(1)}"
      height="${high.toFixed(1)}"
      rx="1.5"
      class="bar series-0"
      >${title}</rect
    >`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    svgText(x(share * end), floor + 18, `${Math.round(share * end)}`, { anchor: 'middle', className: 'tick' }),
  );
  const [median, p95] = [quantile(sorted, 0.5) ?? 0, quantile(sorted, 0.95) ?? 0];
  const clash = Math.abs(x(p95) - x(median)) < 110;
  const marks = [
    mark(x(median), `median ${Math.round(median)} ms`, floor, 0),
    mark(x(p95), `p95 ${Math.round(p95)} ms`, floor, clash ? 13 : 0),
  ];
  const axis = html`<line
    x1="${margin.left}"
    x2="${size.width - margin.right}"
    y1="${floor}"
    y2="${floor}"
    class="spoke"
  />`;
  const unit = svgText(size.width - margin.right, floor + 34, 'milliseconds', { anchor: 'end', className: 'tick' });
  const label = `${what}: median ${Math.round(median)}, 95th percentile ${Math.round(p95)} milliseconds, ${sorted.length} values`;
  return svg(size.width, size.height, label, [boxes, axis, ticks, unit, marks]);
}

function mark(x: number, text: string, floor: number, shift: number): Content {
  const atRight = x > size.width - 110;
  const line = html`<line
    x1="${x.toFixed(1)}"
    x2="${x.toFixed(1)}"
    y1="${margin.top - 8}"
    y2="${floor}"
    class="mark"
  />`;
  const words = svgText(x + (atRight ? -5 : 5), margin.top + shift, text, {
    anchor: atRight ? 'end' : 'start',
    className: 'tick strong',
  });
  return [line, words];
}

/** Rounds up to 1, 2, 4, 5, 8 or 10 times a power of ten. */
function niceEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (([1, 2, 4, 5, 8, 10].find((each) => each * power >= value) as number) ?? 10) * power;
}

/** Renders one stacked bar, with a legend below. */
function stackedBar(parts: readonly { readonly name: string; readonly value: number }[], unit: string): Markup {
  const width = 640;
  const known = parts.filter(({ value }) => value > 0);
  const total = known.reduce((sum, { value }) => sum + value, 0);
  let left = 0;
  const rows: Markup[] = [];
  const boxes = known.map(({ name, value }, index) => {
    const wide = (value / total) * width;
    const title = html`<title>${name}: ${value.toFixed(0)} ${unit}</title>`;
    const box = html`<rect
      x="${left.toFixed(1)}"
      y="0"
      width="${Math.max(1, wide - 1.5).toFixed(1)}"
      height="26"
      rx="3"
      class="bar part-${index % 8}"
      >${title}</rect
    >`;
    const column = (index % 4) * 160;
    const row = 52 + Math.floor(index / 4) * 22;
    rows.push(
      html`<rect x="${column}" y="${row - 10}" width="11" height="11" rx="2.5" class="bar part-${index % 8}" />`,
      svgText(column + 17, row, `${name} ${value.toFixed(0)} ${unit}`, { className: 'tick' }),
    );
    left += wide;
    return box;
  });
  const label = known.map(({ name, value }) => `${name} ${value.toFixed(0)} ${unit}`).join(', ');
  return svg(width, 40 + Math.ceil(known.length / 4) * 22, label, [boxes, rows]);
}
