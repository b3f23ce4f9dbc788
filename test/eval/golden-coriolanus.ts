import { metricKeys } from '../../eval/speechrole/judging/metrics.ts';

/** The scores of Coriolanus, multi, in the paper's repository: of the first judge and of the second. */
export const goldenScores = {
  v1: ['10/8 6/9 10/7 8/9 4/9 10/6 10/8 10/7', '9/10 7/9 9/10 4/9 5/9 3/9 9/10 8/10'],
  v2: ['10/10 8/9 9/10 7/9 9/9 9/9 9/10 9/10', '10/10 8/9 10/10 7/9 7/9 6/9 7/10 9/10'],
} as const;

function pairs(line: string): [number, number][] {
  return line.split(' ').map((each) => each.split('/').map(Number) as [number, number]);
}

/** The scores in the format of the first judge's code: lists of one, every `idx` 0, the whole text as reason. */
export function v1ResultFile(): string {
  const dialogues = goldenScores.v1.map((line) => [
    {
      idx: 0,
      ...Object.fromEntries(
        pairs(line).map(([a, b], index) => [
          `${metricKeys[index]}_results`,
          { reason: `A was well spoken, and B too.\n\n[Scores]: (${a}, ${b})`, score: [a, b] },
        ]),
      ),
    },
  ]);
  return JSON.stringify(dialogues, null, 2);
}

/** The scores in the format of the second judge's code: one list, the reason alone. */
export function v2ResultFile(): string {
  const dialogues = goldenScores.v2.map((line, idx) => ({
    idx,
    ...Object.fromEntries(
      pairs(line).map(([a, b], index) => [
        `${metricKeys[index]}_results`,
        { reason: 'Both were well spoken.', score: [a, b] },
      ]),
    ),
  }));
  return JSON.stringify(dialogues, null, 4);
}
