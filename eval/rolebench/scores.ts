import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { clusteredMean, type ClusterSum, type Interval } from '../statistics.ts';
import { joinAnswers, rowsOf, type AnswerRow, type JoinCounts } from '../text-metrics/answer-files.ts';
import { rougeL, type RougeOptions } from '../text-metrics/rouge-l.ts';

export const languages = ['en', 'zh'] as const;
export const splits = ['instruction', 'role'] as const;

/** A test set of RoleBench; Chinese has only the split `instruction`. */
export interface RoleBenchTest {
  /** Folder that contains `rolebench-eng` and `rolebench-zh`. */
  readonly data: string;
  readonly language: (typeof languages)[number];
  readonly split: (typeof splits)[number];
}

/** Files with a system's answers, one for each kind of question; an absent one leaves its scores null. */
export interface RoleBenchAnswers {
  readonly general?: string | undefined;
  readonly roleSpecific?: string | undefined;
}

/**
 * `CUS`: answers to general questions against answers in the manner of the role; `RAW`: the same against the plain
 * answers; `SPE`: answers to role-specific questions, then by the origin of the reference.
 */
export const scoreNames = ['CUS', 'RAW', 'SPE', 'script_based', 'script_agnostic'] as const;
export type ScoreName = (typeof scoreNames)[number];

/** A mean over rows, with the interval over roles. */
export interface RoleBenchScore extends Interval {
  readonly value: number | null;
  readonly n: number;
}

export interface RoleBenchScores {
  readonly scores: Readonly<Record<ScoreName, RoleBenchScore>>;
  /** Mean of CUS, RAW and SPE; null unless all three are known. */
  readonly avg: number | null;
  readonly roles: Readonly<Record<string, Readonly<Record<ScoreName, number | null>>>>;
  /** Rows of each part and their partners. */
  readonly rows: Readonly<Partial<Record<'general' | 'role_specific', JoinCounts>>>;
  /** Reasons for nulls. */
  readonly missing: readonly string[];
}

type Sums = Record<ScoreName, Map<string, ClusterSum>>;

/** Scores answers to RoleBench. Throws an `EvalError` if a file is missing. */
export async function scoreRoleBench(
  test: RoleBenchTest,
  answers: RoleBenchAnswers,
  options: RougeOptions & { readonly seed: number },
): Promise<RoleBenchScores> {
  const sums = Object.fromEntries(scoreNames.map((name) => [name, new Map<string, ClusterSum>()])) as Sums;
  const add = (name: ScoreName, role: string, answer: string, references: readonly string[]): void => {
    const value = rougeL(answer, references, options);
    if (value === null) return;
    const { sum, n } = sums[name].get(role) ?? { sum: 0, n: 0 };
    sums[name].set(role, { sum: sum + value, n: n + 1 });
  };
  const plain = answers.general === undefined ? new Map<string, readonly string[]>() : await plainAnswers(test);
  const missing: string[] = [];
  const join = async (part: 'general' | 'role_specific', outputs: string | undefined, onPair: OnPair) => {
    if (outputs !== undefined)
      return {
        [part]: await joinAnswers(
          { references: fileOf(test, part), outputs },
          (reference, { answers: [answer = ''] }) => onPair(reference, answer),
        ),
      };
    missing.push(`no answers to ${part} questions were given`);
    return {};
  };
  const general = await join('general', answers.general, ({ role, question, answers: references }, answer) => {
    add('CUS', role, answer, references);
    add('RAW', role, answer, plain.get(question) ?? []);
  });
  const specific = await join('role_specific', answers.roleSpecific, (reference, answer) => {
    add('SPE', reference.role, answer, reference.answers);
    for (const kind of ['script_based', 'script_agnostic'] as const)
      add(kind, reference.role, answer, referencesOf(reference, kind));
  });
  if (answers.general !== undefined && plain.size === 0)
    missing.push(`RAW needs ${plainFile(test)}, which does not exist`);
  const scores = Object.fromEntries(
    scoreNames.map((name) => [name, clusteredMean([...sums[name].values()], options)]),
  ) as RoleBenchScores['scores'];
  const named = new Set(scoreNames.flatMap((name) => [...sums[name].keys()]));
  const ofRole = (role: string): Record<ScoreName, number | null> =>
    Object.fromEntries(
      scoreNames.map((name) => {
        const found = sums[name].get(role);
        return [name, found === undefined ? null : found.sum / found.n];
      }),
    ) as Record<ScoreName, number | null>;
  return {
    scores,
    avg: averageOf(scores.CUS.value, scores.RAW.value, scores.SPE.value),
    roles: Object.fromEntries([...named].map((role) => [role, ofRole(role)])),
    rows: { ...general, ...specific },
    missing,
  };
}

/** Mean of the three; null unless all are known. */
export function averageOf(...values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length;
}

/** References of one origin: a text `type` is that of all, a list has one for each reference. */
export function referencesOf({ answers, fields }: AnswerRow, kind: string): readonly string[] {
  const { type } = fields;
  if (Array.isArray(type)) return answers.filter((_, at) => type[at] === kind);
  return type === kind ? answers : [];
}

type OnPair = (reference: AnswerRow, answer: string) => void;

/** A file of the test set: its rows, or the baseline. */
export function fileOf({ data, language, split }: RoleBenchTest, part: string, name = 'test'): string {
  const folder = language === 'zh' ? 'rolebench-zh' : path.join('rolebench-eng', `${split}-generalization`);
  return path.join(data, folder, part, `${name}.jsonl`);
}

/** File of the plain answers that RAW needs. */
export function plainFile({ data, language }: RoleBenchTest): string {
  return path.join(data, `instructions-${language === 'zh' ? 'zh' : 'eng'}`, 'general.jsonl');
}

/** Plain answers by trimmed instruction; empty if the file is not there. */
export async function plainAnswers(test: RoleBenchTest): Promise<Map<string, readonly string[]>> {
  const file = plainFile(test);
  const found = new Map<string, readonly string[]>();
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return found;
  for await (const { question, answers } of rowsOf(file, () => undefined)) found.set(question, answers);
  return found;
}

const share = z.number().min(0).max(1);
const paperRow = z.object({ system: z.string(), CUS: share, RAW: share, SPE: share, avg: share });
const paperSchema = z.object({
  source: z.string(),
  protocol: z.string(),
  tables: z.array(
    z.object({ table: z.string(), language: z.enum(languages), split: z.enum(splits), rows: z.array(paperRow) }),
  ),
});

/** Tables 3, 4 and 5 of RoleLLM. */
export const paperTables = paperSchema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'paper-tables.json'), 'utf8')),
);
