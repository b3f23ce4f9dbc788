import { tableInParts } from '../../../server/terminal/table.ts';
import { coverageNote, coverageOf, figureText, probabilityText, rangeText } from '../../text/tables.ts';
import { nameOf, type Cross, type CrossMetric } from './cross.ts';

/** Formats the matrices for a terminal: rows are supervisors, columns seed models. */
export function crossText(cross: Cross): string {
  const { metrics, runs } = cross;
  const isMarked = metrics.some(({ cells }) => cells.some((cell) => coverageOf(cell).endsWith('†')));
  const blocks = metrics.map((each) => {
    const { label, help } = each.metric;
    return [`${label}: ${help}`, matrixText(each, cross), cellsText(each), differencesText(each), aboveText(each)]
      .filter((part) => part !== '')
      .join('\n\n');
  });
  const failures = runs.flatMap((run) =>
    Object.entries(run.failures).map(
      ([code, { count, message }]) => `${nameOf(run)}: failed ${count} × ${code}: ${message}`,
    ),
  );
  const unfinished = runs
    .filter(({ ended }) => ended !== 'finished')
    .map((run) => `${nameOf(run)}: not finished. Continue with: dramatis eval resume ${run.folder}`);
  return [...blocks, [...(isMarked ? [coverageNote] : []), ...failures, ...unfinished].join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

function matrixText({ metric, cells }: CrossMetric, { supervisors, seeds }: Cross): string {
  const figure = (supervisor: string | null, seed: string | null): string => {
    const cell = cells.find((each) => each.supervisor === supervisor && each.seed === seed);
    if (cell === undefined) return '–';
    return `${figureText(cell.value, metric)}${coverageOf(cell).endsWith('†') ? ' †' : ''}`;
  };
  const rows = [...supervisors, ...(cells.some(({ supervisor }) => supervisor === null) ? [null] : [])];
  return tableInParts(
    ['data of', 'with profiles', ...seeds],
    rows.map((supervisor) => [
      supervisor ?? '(untrained)',
      supervisor === null ? '' : figure(supervisor, null),
      ...seeds.map((seed) => figure(supervisor, seed)),
    ]),
    { numbers: true },
  );
}

function cellsText({ metric, cells }: CrossMetric): string {
  return tableInParts(
    ['run', 'mean', '95 %', 'SEM', 'scored'],
    cells.map((cell) => [
      nameOf(cell),
      figureText(cell.value, metric),
      rangeText(cell, metric),
      figureText(cell.sem, metric),
      coverageOf(cell),
    ]),
    { numbers: true },
  );
}

function differencesText({ metric, differences }: CrossMetric): string {
  if (differences.length === 0) return '';
  return tableInParts(
    ['run', 'minus', 'difference', '95 %', 'p (Holm)', 'n'],
    differences.map((each) => [
      nameOf(each),
      each.minus === 'supervision' ? 'supervisor' : 'untrained',
      figureText(each.difference, metric),
      rangeText(each, metric),
      probabilityText(each.p),
      String(each.n),
    ]),
    { numbers: true },
  );
}

function aboveText({ above: { n, of } }: CrossMetric): string {
  return of === 0 ? '' : `better than the supervisor with profiles (above the diagonal): ${n} of ${of}`;
}
