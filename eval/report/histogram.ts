import { quantile } from '../statistics.ts';
import { svg, svgText } from './html.ts';

const size = { width: 640, height: 240 };
const margin = { top: 26, right: 16, bottom: 40, left: 40 };

/** Histogram of durations in milliseconds, with median and 95th percentile. `sorted` must not be empty. */
export function histogram(sorted: readonly number[], what: string): string {
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
    const title = `<title>${Math.round((bin / count) * end)}–${Math.round(((bin + 1) / count) * end)} ms: ${number}</title>`;
    return `<rect x="${(left + 0.8).toFixed(1)}" y="${(floor - high).toFixed(1)}" width="${(inner.width / count - 1.6).toFixed(1)}" height="${high.toFixed(1)}" rx="1.5" class="bar series-0">${title}</rect>`;
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
  const axis = `<line x1="${margin.left}" x2="${size.width - margin.right}" y1="${floor}" y2="${floor}" class="spoke"/>`;
  const unit = svgText(size.width - margin.right, floor + 34, 'milliseconds', { anchor: 'end', className: 'tick' });
  const label = `${what}: median ${Math.round(median)}, 95th percentile ${Math.round(p95)} milliseconds, ${sorted.length} values`;
  return svg(size.width, size.height, label, [...boxes, axis, ...ticks, unit, ...marks].join(''));
}

function mark(x: number, text: string, floor: number, shift: number): string {
  const atRight = x > size.width - 110;
  const line = `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${margin.top - 8}" y2="${floor}" class="mark"/>`;
  return (
    line +
    svgText(x + (atRight ? -5 : 5), margin.top + shift, text, {
      anchor: atRight ? 'end' : 'start',
      className: 'tick strong',
    })
  );
}

/** Rounds up to 1, 2, 4, 5, 8 or 10 times a power of ten. */
function niceEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (([1, 2, 4, 5, 8, 10].find((each) => each * power >= value) as number) ?? 10) * power;
}
