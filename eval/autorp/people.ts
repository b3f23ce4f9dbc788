import { tableInParts } from '../../server/terminal/table.ts';
import type { PeopleLabels, Printed } from '../benchmark.ts';
import { pearson, spearman } from '../correlation.ts';
import { requireColumn } from '../csv.ts';
import { EvalError } from '../eval-error.ts';
import { mean, standardError } from '../statistics.ts';
import type { JudgedSamples } from '../text/text-task.ts';
import type { AutoRpConfig } from './config.ts';
import { judgedMetrics, verdictIn, type JudgedMetric } from './judging.ts';
import { labelsOf, type AutoRpFacts, type Meeting } from './test-set.ts';

/** Agreement of the judge with people on one metric. */
export interface PeopleAgreement {
  readonly metric: JudgedMetric;
  /** Pairs of a person's label and the judge's. */
  readonly n: number;
  /** Share of the judge's verdicts that people find valid, of those with an opinion. */
  readonly validity: number | null;
  readonly validitySem: number | null;
  /** Mean cosine of the two label vectors; of metrics with one number, the cosine of the two columns. */
  readonly cosine: number | null;
  readonly cosineSem: number | null;
  /** Correlations of metrics with one number, and of all emotion scores. */
  readonly pearson: number | null;
  readonly spearman: number | null;
}

/** Cosine of two vectors; two empty ones agree, one empty one does not. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  const scale = Math.sqrt(dot(a, a) * dot(b, b));
  return scale === 0 ? Number(dot(a, a) === dot(b, b)) : dot(a, b) / scale;
}

/** A verdict as a vector: labels of the role, six emotions, four bits of a type, one of four roles, or one number. */
export function vectorOf(metric: JudgedMetric, verdict: unknown, { traits, styles }: Meeting): number[] {
  const chosen = verdict as readonly string[];
  if (metric === 'character') return traits.map((label) => Number(chosen.includes(label)));
  if (metric === 'style') return styles.map((label) => Number(chosen.includes(label)));
  if (metric === 'emotion') return [...(verdict as readonly number[])];
  if (metric === 'personality') return Array.from(verdict as string, (letter) => Number('ESFP'.includes(letter)));
  if (metric === 'role-choice') return ['A', 'B', 'C', 'D'].map((letter) => Number(letter === verdict));
  return [Number(verdict)];
}

type Row = PeopleLabels['rows'][number];
type Judged = JudgedSamples<AutoRpConfig, AutoRpFacts>;

/** Compares a run's judge with people: rows of `sample,metric,label`, and `valid` (1 or 0) if a person has checked. */
export function agreementWithPeople(judged: Judged, { rows, file }: PeopleLabels): PeopleAgreement[] {
  const known = new Set<string>(judgedMetrics);
  const strange = rows.find((row) => !known.has(requireColumn(row, 'metric', file)));
  if (strange !== undefined)
    throw new EvalError('data', `${file}: there is no metric "${strange['metric']}". Use ${judgedMetrics.join(', ')}.`);
  return judgedMetrics.map((metric): PeopleAgreement => {
    const own = rows.filter((row) => row['metric'] === metric);
    const pairs = own.flatMap((row) => pairOf(metric, row, { judged, file }));
    const opinions = own.flatMap(({ valid = '' }) => (valid === '' ? [] : [Number(valid === '1' || valid === 'true')]));
    const isNumber = pairs.length > 0 && pairs.every(({ people }) => people.length === 1);
    const flat = (side: 'people' | 'judge'): number[] => pairs.flatMap((pair) => pair[side]);
    const cosines = pairs.map(({ people, judge }) => cosine(people, judge));
    const ranked = isNumber || metric === 'emotion';
    return {
      metric,
      n: pairs.length,
      validity: mean(opinions),
      validitySem: standardError(opinions),
      cosine: isNumber ? cosine(flat('people'), flat('judge')) : mean(cosines),
      cosineSem: isNumber ? null : standardError(cosines),
      pearson: ranked ? pearson(flat('people'), flat('judge')) : null,
      spearman: ranked ? spearman(flat('people'), flat('judge')) : null,
    };
  });
}

function pairOf(
  metric: JudgedMetric,
  row: Row,
  { judged, file }: { readonly judged: Judged; readonly file: string },
): { readonly people: readonly number[]; readonly judge: readonly number[] }[] {
  const sample = requireColumn(row, 'sample', file);
  const facts = judged.facts.get(sample);
  if (facts?.kind !== 'meeting') throw new EvalError('data', `${file}: the run has no sample "${sample}".`);
  const label = (row['label'] ?? '').trim();
  if (label === '') return [];
  const people = verdictIn(metric, replyOf(metric, label), facts, 'tolerant');
  if (people === undefined) throw new EvalError('data', `${file}: "${label}" is not a label of ${metric} (${sample}).`);
  const { state, text } = judged.verdict(sample, metric);
  const judge = state === 'answered' ? verdictIn(metric, text, facts, judged.config.parser) : undefined;
  return judge === undefined
    ? []
    : [{ people: vectorOf(metric, people, facts), judge: vectorOf(metric, judge, facts) }];
}

/** A person's label in the form of a judge's reply. */
function replyOf(metric: JudgedMetric, label: string): string {
  if (label.startsWith('{')) return label;
  if (metric === 'emotion') {
    const names = ['happiness', 'sadness', 'disgust', 'fear', 'surprise', 'anger'];
    const scores = label.split(/[\s,;]+/);
    return JSON.stringify(Object.fromEntries(names.map((name, at) => [name, scores[at] ?? ''])));
  }
  const isYes = label === '1' || label.toLowerCase() === 'true';
  if (metric === 'human-likeness') return JSON.stringify({ is_real_dialogue: isYes });
  if (metric === 'coherence') return JSON.stringify({ is_coherent: isYes });
  if (metric === 'role-choice') return JSON.stringify({ answer: label });
  return JSON.stringify({ [metric]: metric === 'character' || metric === 'style' ? labelsOf(label).join(',') : label });
}

/** Formats agreements as a table. */
export function peopleTable(rows: readonly PeopleAgreement[]): Printed {
  const number = (value: number | null): string => (value === null ? '–' : value.toFixed(4));
  const body = rows.map(({ metric, n, validity, validitySem, cosine: similar, cosineSem, ...each }) => [
    metric,
    String(n),
    number(validity),
    number(validitySem),
    number(similar),
    number(cosineSem),
    number(each.pearson),
    number(each.spearman),
  ]);
  const head = ['', 'n', 'validity', 'SEM', 'cosine', 'SEM', 'Pearson', 'Spearman'];
  return { json: rows, text: tableInParts(head, body, { numbers: true }) };
}
