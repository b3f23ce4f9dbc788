import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import {
  languages,
  paperTables,
  scoreNames,
  scoreRoleBench,
  splits,
  type RoleBenchScores,
  type RoleBenchTest,
} from '../rolebench/scores.ts';
import { referenceChoices, type RougeOptions } from '../text-metrics/rouge-l.ts';
import { tokenKinds } from '../text-metrics/tokens.ts';
import { numberFlag, parseFlags, requireFlag, requireNone, textFlag } from '../../server/terminal/flags.ts';
import { table } from '../../server/terminal/table.ts';
import { choiceOf } from './rouge.ts';

const flags = {
  data: { type: 'string', value: 'DIR', help: 'RoleBench: contains rolebench-eng/ and rolebench-zh/' },
  language: { type: 'string', value: 'en|zh', help: 'language of the test set (default en)' },
  split: { type: 'string', value: 'WHICH', help: 'English: instruction (default) or role generalization' },
  general: { type: 'string', value: 'FILE', help: 'JSONL of the answers to general questions' },
  'role-specific': { type: 'string', value: 'FILE', help: 'JSONL of the answers to role-specific questions' },
  tokens: {
    type: 'string',
    value: 'HOW',
    help: 'words, marks, alnum, han or set (default: alnum, or han for Chinese)',
  },
  'references-by': { type: 'string', value: 'HOW', help: 'max (default), mean or first of a row’s references' },
  seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** `dramatis eval rolebench --data DIR --general FILE --role-specific FILE`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const synopsis = '--data DIR [--general FILE] [--role-specific FILE] [--json]';
  const parsed = parseFlags({ name: 'eval rolebench', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { values } = parsed;
  const data = path.resolve(requireFlag(values.data, 'data'));
  const language = choiceOf(textFlag(values.language), languages, 'language') ?? 'en';
  const split = choiceOf(textFlag(values.split), splits, 'split') ?? 'instruction';
  if (language === 'zh' && split === 'role') throw new EvalError('usage', '--split role exists only in English.');
  const fileOf = (flag: 'general' | 'role-specific'): string | undefined => {
    const file = textFlag(values[flag]);
    return file === undefined ? undefined : path.resolve(file);
  };
  const answers = { general: fileOf('general'), roleSpecific: fileOf('role-specific') };
  if (answers.general === undefined && answers.roleSpecific === undefined)
    throw new EvalError('usage', '--general or --role-specific is required: the answers to score.');
  const options = {
    tokens: choiceOf(textFlag(values.tokens), tokenKinds, 'tokens') ?? (language === 'zh' ? 'han' : 'alnum'),
    references: choiceOf(textFlag(values['references-by']), referenceChoices, 'references-by') ?? 'max',
  } as const;
  const test = { data, language, split };
  const scored = await scoreRoleBench(test, answers, { ...options, seed: numberFlag(values.seed, 'seed') ?? 1 });
  const how = { metric: 'rouge-l', tokens: options.tokens, referencesBy: options.references, language, split };
  host.print(values.json === true ? JSON.stringify({ ...how, ...scored }, null, 2) : asText(scored, test, options));
  return Object.values(scored.scores).some(({ n }) => n > 0) ? 0 : 1;
}

function asText(
  scored: RoleBenchScores,
  { language, split }: RoleBenchTest,
  { tokens, references }: RougeOptions,
): string {
  const number = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : value.toFixed(4);
  const { scores, avg, roles, rows, missing } = scored;
  const interval = (name: (typeof scoreNames)[number]): string => {
    const { low, high } = scores[name];
    return low === null || high === null ? '–' : `${low.toFixed(3)}–${high.toFixed(3)}`;
  };
  const heads = ['', ...scoreNames.map((name) => name.replace('script_', '')), 'avg'];
  const ours = table(
    heads,
    [
      ...Object.entries(roles).map(([role, of]) => [role, ...scoreNames.map((name) => number(of[name])), '']),
      ['all', ...scoreNames.map((name) => number(scores[name].value)), number(avg)],
      ['95 %', ...scoreNames.map(interval), ''],
      ['rows', ...scoreNames.map((name) => String(scores[name].n)), ''],
    ],
    { numbers: true },
  );
  const counts = Object.entries(rows).map(
    ([part, { references: all, outputs, referencesWithoutOutput, outputsWithoutReference, unreadable }]) =>
      `${part}: ${all} references, ${outputs} answers; ${referencesWithoutOutput} references without an answer, ${outputsWithoutReference} answers without a reference, ${unreadable} unreadable rows`,
  );
  const paper = paperTables.tables.filter((each) => each.language === language && each.split === split);
  const published = paper.map(
    (each) =>
      `${paperTables.source}, ${each.table}; protocol: ${paperTables.protocol}\n${table(
        ['', 'CUS', 'RAW', 'SPE', 'avg'],
        each.rows.map(({ system, CUS, RAW, SPE, avg: mean }) => [system, ...[CUS, RAW, SPE, mean].map(number)]),
        { numbers: true },
      )}`,
  );
  return [
    `Protocol: ROUGE-L, tokens ${tokens}, ${references} of the references\n${ours}`,
    [...counts, ...missing].join('\n'),
    ...published,
  ].join('\n\n');
}
