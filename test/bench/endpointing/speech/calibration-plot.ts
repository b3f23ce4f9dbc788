import { drawSpeakers, endsOf, pausesOf, quantile, type Judged } from './real-speech.ts';

/** Moments that got about the same probability, and how many of them were ends. */
interface Bin {
  /** Judged end-of-turn probability, 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly ends: number;
  readonly pauses: number;
  /** Share of ends, 0 to 1, ends and pauses weighed the same; undefined if the range is empty. */
  readonly share: number | undefined;
  /** 95 % interval of the share, from a bootstrap over speakers. */
  readonly low: number;
  readonly high: number;
}

const bins = 10;
const methods = ['words', 'sound', 'both'] as const;
type Method = (typeof methods)[number];

/** Counts ends and pauses by tenths of the probability. */
function binsOf(cases: readonly Judged[], method: Method): Bin[] {
  const counted = countsOf(cases, method);
  const draws = drawSpeakers(cases).map((draw) => countsOf(draw, method));
  return counted.map(({ ends, pauses, share }, index): Bin => {
    const drawn = draws.flatMap((draw) => draw[index]?.share ?? []);
    const [low, high] = [quantile(drawn, 0.025), quantile(drawn, 0.975)];
    return { from: index / bins, to: (index + 1) / bins, ends, pauses, share, low, high };
  });
}

function countsOf(cases: readonly Judged[], method: Method): Pick<Bin, 'ends' | 'pauses' | 'share'>[] {
  const [ends, pauses] = [endsOf(cases), pausesOf(cases, 0)];
  const weight = pauses.length / Math.max(1, ends.length);
  const countIn = (some: readonly Judged[]): number[] => {
    const counts = Array<number>(bins).fill(0);
    for (const { completeness } of some) {
      const bin = Math.min(bins - 1, Math.floor(completeness[method] * bins));
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    return counts;
  };
  const pausesIn = countIn(pauses);
  return countIn(ends).map((count, bin) => {
    const others = pausesIn[bin] ?? 0;
    const share = count + others === 0 ? undefined : (weight * count) / (weight * count + others);
    return { ends: count, pauses: others, share };
  });
}

const side = 260;
const margin = { left: 52, top: 46, right: 22, bottom: 84 };
const width = methods.length * (margin.left + side + margin.right);
const height = margin.top + side + margin.bottom;

/**
 * Draws judged end-of-turn probabilities against observed shares of ends, one diagram for each method, as an SVG file of
 * about 15 kB. A calibrated detector is on the diagonal; bars are 95 % intervals, areas of discs numbers of moments.
 */
export function calibrationSvg(cases: readonly Judged[], title: string): string {
  const diagrams = methods.map((method, index) => {
    const left = index * (margin.left + side + margin.right) + margin.left;
    return `<g transform="translate(${left} ${margin.top})">${diagram(method, binsOf(cases, method))}</g>`;
  });
  const speakers = new Set(cases.map(({ set, speaker }) => `${set} ${speaker}`)).size;
  const count = `${endsOf(cases).length} ends, ${pausesOf(cases, 0).length} pauses, ${speakers} speakers`;
  const about = 'Ends and pauses weigh the same. Bars: 95 % intervals over speakers.';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${margin.left}" y="20" font-size="14">${escaped(title)}</text>
${diagrams.join('\n')}
<text x="${margin.left}" y="${height - 12}">${escaped(`${count}. ${about}`)}</text>
</svg>
`;
}

function diagram(method: Method, found: readonly Bin[]): string {
  const x = (value: number): string => (value * side).toFixed(1);
  const y = (value: number): string => ((1 - value) * side).toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) => `<path d="M0 ${y(value)}H${side}M${x(value)} 0V${side}" stroke="#e4e4e4" fill="none"/>
<text x="-6" y="${y(value - 0.015)}" text-anchor="end">${100 * value} %</text>
<text x="${x(value)}" y="${side + 16}" text-anchor="middle">${100 * value} %</text>`,
  );
  const known = found.filter((bin) => bin.share !== undefined);
  const total = Math.max(
    1,
    known.reduce((sum, { ends, pauses }) => sum + ends + pauses, 0),
  );
  const points = known.map(({ from, to, ends, pauses, share = 0, low, high }) => {
    const center = x((from + to) / 2);
    const radius = (2 + 22 * Math.sqrt((ends + pauses) / total)).toFixed(1);
    return `<path d="M${center} ${y(low)}V${y(high)}" stroke="#1f5fa8" stroke-width="1.5"/>
<circle cx="${center}" cy="${y(share)}" r="${radius}" fill="#1f5fa8" fill-opacity="0.55"><title>${Math.round(100 * share)} % ends (${ends} ends, ${pauses} pauses)</title></circle>`;
  });
  return `${grid.join('\n')}
<path d="M0 ${side}L${side} 0" stroke="#999" stroke-dasharray="4 4" fill="none"/>
${points.join('\n')}
<text x="0" y="-8" font-weight="bold">${method}</text>
<text x="${side / 2}" y="${side + 34}" text-anchor="middle">judged end-of-turn probability</text>
<text transform="translate(-40 ${side / 2}) rotate(-90)" text-anchor="middle">observed share of ends</text>`;
}

/** Prints the same for words and sound together. */
export function calibrationText(cases: readonly Judged[]): string {
  const columns = 50;
  const lines = binsOf(cases, 'both').map(({ from, to, ends, pauses, share }) => {
    const marks = Array.from({ length: columns + 1 }, (_, column) => {
      if (share !== undefined && Math.round(share * columns) === column) return '●';
      return Math.abs(column - ((from + to) / 2) * columns) <= 0.5 ? '·' : ' ';
    });
    const label = `${Math.round(100 * from)}–${Math.round(100 * to)} %`.padStart(9);
    const of = share === undefined ? 'nothing' : `${Math.round(100 * share)} % of ${ends} ends and ${pauses} pauses`;
    return `${label} |${marks.join('')}| ${of}`;
  });
  return ['judged     observed share of ends, 0 to 100 %', ...lines].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
