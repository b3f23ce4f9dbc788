/** A labelled example: the cues of a turn, whether it was complete, and its weight. */
export interface Example {
  readonly cues: Readonly<Record<string, number>>;
  readonly complete: boolean;
  readonly weight: number;
}

/**
 * Fits a logistic regression by Newton's method with a ridge penalty (half the square of each weight except the bias,
 * times `ridge`). Cues that no example has keep the weight 0.
 */
export function fitLogistic(examples: readonly Example[], ridge: number): Record<string, number> {
  const names = ['bias', ...new Set(examples.flatMap(({ cues }) => Object.keys(cues)))];
  const rows = examples.map(({ cues }) => names.map((name) => (name === 'bias' ? 1 : (cues[name] ?? 0))));
  let weights = names.map(() => 0);
  for (let round = 0; round < 30; round += 1) {
    const gradient = names.map((_, index) => (index === 0 ? 0 : -ridge * (weights[index] as number)));
    const hessian = names.map((_, index) =>
      names.map((_, other) => (index === other ? (index === 0 ? 1e-9 : ridge) : 0)),
    );
    for (const [place, row] of rows.entries()) {
      const example = examples[place] as Example;
      const logit = row.reduce((sum, value, index) => sum + value * (weights[index] as number), 0);
      const probability = 1 / (1 + Math.exp(-logit));
      const error = example.weight * ((example.complete ? 1 : 0) - probability);
      const curve = example.weight * probability * (1 - probability);
      for (const [index, value] of row.entries()) {
        if (value === 0) continue;
        gradient[index] = (gradient[index] as number) + error * value;
        const line = hessian[index] as number[];
        for (const [other, factor] of row.entries()) line[other] = (line[other] as number) + curve * value * factor;
      }
    }
    const move = solve(hessian, gradient);
    weights = weights.map((weight, index) => weight + (move[index] as number));
    if (Math.max(...move.map((value) => Math.abs(value))) < 1e-6) break;
  }
  return Object.fromEntries(names.map((name, index) => [name, weights[index] as number]));
}

/** Gaussian elimination with pivots; the matrix is positive definite. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] as number]);
  for (let column = 0; column < rows.length; column += 1) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) => (Math.abs(row[column] as number) > Math.abs(best[column] as number) ? row : best));
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(column, 0, pivot);
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] as number) / (pivot[column] as number);
      for (let index = column; index < row.length; index += 1)
        row[index] = (row[index] as number) - factor * (pivot[index] as number);
    }
  }
  return rows.map((row, index) => (row.at(-1) as number) / (row[index] as number));
}

/** Area under the ROC curve: the probability that a complete example scores above an incomplete one. 0.5 is chance. */
export function areaUnderCurve(
  scored: readonly { readonly score: number; readonly complete: boolean; readonly weight: number }[],
): number {
  let won = 0;
  let pairs = 0;
  for (const high of scored.filter(({ complete }) => complete)) {
    for (const low of scored.filter(({ complete }) => !complete)) {
      const weight = high.weight * low.weight;
      pairs += weight;
      won += weight * (high.score > low.score ? 1 : high.score === low.score ? 0.5 : 0);
    }
  }
  return won / pairs;
}
