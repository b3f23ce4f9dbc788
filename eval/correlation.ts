import { mean } from '../voices/dsp/statistics.ts';

/** Pearson's linear correlation; null if either side is constant or there are fewer than two points. */
export function pearson(xs: readonly number[], ys: readonly number[]): number | null {
  const { sxx, syy, sxy } = moments(xs, ys);
  return sxx === 0 || syy === 0 ? null : sxy / Math.sqrt(sxx * syy);
}

/** Spearman's rank correlation; equal values share the mean of their ranks. */
export function spearman(xs: readonly number[], ys: readonly number[]): number | null {
  return pearson(ranks(xs), ranks(ys));
}

/** Kendall's tau-b, which allows for ties. */
export function kendall(xs: readonly number[], ys: readonly number[]): number | null {
  let [agree, differ, tiedX, tiedY] = [0, 0, 0, 0];
  for (let first = 0; first < xs.length; first += 1) {
    for (let second = first + 1; second < xs.length; second += 1) {
      const dx = Math.sign((xs[first] as number) - (xs[second] as number));
      const dy = Math.sign((ys[first] as number) - (ys[second] as number));
      if (dx === 0 && dy === 0) continue;
      if (dx === 0) tiedX += 1;
      else if (dy === 0) tiedY += 1;
      else if (dx === dy) agree += 1;
      else differ += 1;
    }
  }
  const scale = Math.sqrt((agree + differ + tiedX) * (agree + differ + tiedY));
  return scale === 0 ? null : (agree - differ) / scale;
}

/** Least-squares line through the points; null if `xs` are constant. */
export function fitLine(
  xs: readonly number[],
  ys: readonly number[],
): { readonly intercept: number; readonly slope: number } | null {
  const { meanX, meanY, sxx, sxy } = moments(xs, ys);
  if (sxx === 0) return null;
  const slope = sxy / sxx;
  return { intercept: meanY - slope * meanX, slope };
}

/** Mean squared residual of the points about the line fitted to them. */
export function residualMse(xs: readonly number[], ys: readonly number[]): number | null {
  const line = fitLine(xs, ys);
  if (line === null || xs.length === 0) return null;
  const squares = xs.map((x, index) => ((ys[index] as number) - line.intercept - line.slope * x) ** 2);
  return mean(squares);
}

/** Leave-one-out MSE: each point's residual about the line fitted to the others; null below three points. */
export function leaveOneOutMse(xs: readonly number[], ys: readonly number[]): number | null {
  let sum = 0;
  for (const [left, x] of xs.entries()) {
    const rest = (values: readonly number[]): number[] => values.filter((_, index) => index !== left);
    const line = fitLine(rest(xs), rest(ys));
    if (line === null) return null;
    sum += ((ys[left] as number) - line.intercept - line.slope * x) ** 2;
  }
  return xs.length < 3 ? null : sum / xs.length;
}

function moments(
  xs: readonly number[],
  ys: readonly number[],
): { meanX: number; meanY: number; sxx: number; syy: number; sxy: number } {
  const meanX = mean(xs);
  const meanY = mean(ys);
  let [sxx, syy, sxy] = [0, 0, 0];
  for (const [index, x] of xs.entries()) {
    const dy = (ys[index] as number) - meanY;
    sxx += (x - meanX) ** 2;
    syy += dy ** 2;
    sxy += (x - meanX) * dy;
  }
  return { meanX, meanY, sxx, syy, sxy };
}

function ranks(values: readonly number[]): number[] {
  const sorted = values.map((value, index) => ({ value, index })).toSorted((a, b) => a.value - b.value);
  const result = Array.from<number>({ length: values.length });
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (end + 1 < sorted.length && sorted[end + 1]?.value === sorted[start]?.value) end += 1;
    for (let at = start; at <= end; at += 1) result[(sorted[at] as { index: number }).index] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return result;
}
