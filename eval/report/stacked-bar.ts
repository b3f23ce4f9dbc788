import { svg, svgText } from './html.ts';

/** Renders one stacked bar, with a legend below. */
export function stackedBar(parts: readonly { readonly name: string; readonly value: number }[], unit: string): string {
  const width = 640;
  const known = parts.filter(({ value }) => value > 0);
  const total = known.reduce((sum, { value }) => sum + value, 0);
  let left = 0;
  const rows: string[] = [];
  const boxes = known.map(({ name, value }, index) => {
    const wide = (value / total) * width;
    const title = `<title>${name}: ${value.toFixed(0)} ${unit}</title>`;
    const box = `<rect x="${left.toFixed(1)}" y="0" width="${Math.max(1, wide - 1.5).toFixed(1)}" height="26" rx="3" class="bar part-${index % 8}">${title}</rect>`;
    const column = (index % 4) * 160;
    const row = 52 + Math.floor(index / 4) * 22;
    rows.push(
      `<rect x="${column}" y="${row - 10}" width="11" height="11" rx="2.5" class="bar part-${index % 8}"/>`,
      svgText(column + 17, row, `${name} ${value.toFixed(0)} ${unit}`, { className: 'tick' }),
    );
    left += wide;
    return box;
  });
  const label = known.map(({ name, value }) => `${name} ${value.toFixed(0)} ${unit}`).join(', ');
  return svg(width, 40 + Math.ceil(known.length / 4) * 22, label, [...boxes, ...rows].join(''));
}
