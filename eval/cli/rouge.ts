import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import type { EvalHost } from '../host.ts';
import { clusteredMean, type ClusterSum } from '../statistics.ts';
import { joinAnswers, type JoinCounts } from '../text-metrics/answer-files.ts';
import { referenceChoices, rougeL, type ReferenceChoice } from '../text-metrics/rouge-l.ts';
import { isChinese, tokenKinds, type TokenKind } from '../text-metrics/tokens.ts';
import { numberFlag, parseFlags, requireFlag, requireNone, textFlag } from '../../server/terminal/flags.ts';
import { table } from '../../server/terminal/table.ts';

const flags = {
  references: { type: 'string', value: 'FILE', help: 'JSONL: role, question, generated (a list) or answer' },
  outputs: { type: 'string', value: 'FILE', help: 'JSONL of the answers to score, in the same form' },
  tokens: {
    type: 'string',
    value: 'HOW',
    help: 'words, marks, alnum, han or set (default: words, or han for Chinese)',
  },
  'references-by': { type: 'string', value: 'HOW', help: 'max (default), mean or first of a row’s references' },
  seed: { type: 'string', value: 'N', help: 'seed of the bootstrap (default 1)' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** `dramatis eval rouge --references FILE --outputs FILE`. */
export async function run(args: readonly string[], host: EvalHost): Promise<number> {
  const synopsis = '--references FILE --outputs FILE [--tokens HOW] [--json]';
  const parsed = parseFlags({ name: 'eval rouge', synopsis, flags }, args, host.print);
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const { values } = parsed;
  const scored = await scoreFiles({
    references: path.resolve(requireFlag(values.references, 'references')),
    outputs: path.resolve(requireFlag(values.outputs, 'outputs')),
    tokens: choiceOf(textFlag(values.tokens), tokenKinds, 'tokens'),
    choice: choiceOf(textFlag(values['references-by']), referenceChoices, 'references-by') ?? 'max',
    seed: numberFlag(values.seed, 'seed') ?? 1,
  });
  host.print(values.json === true ? JSON.stringify(scored, null, 2) : asText(scored));
  return scored.n > 0 ? 0 : 1;
}

/** Returns the choice that a flag names. Throws an `EvalError` that lists them if it is another. */
export function choiceOf<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
  flag: string,
): Choice | undefined {
  const found = choices.find((choice) => choice === text);
  if (text !== undefined && found === undefined)
    throw new EvalError('usage', `--${flag} must be one of ${choices.join(', ')}.`);
  return found;
}

/** ROUGE-L of one file of answers: mean of rows, with the interval over roles. */
interface ScoredFiles {
  readonly metric: 'rouge-l';
  /** Null if no tokens were chosen and no row was scored. */
  readonly tokens: TokenKind | null;
  readonly referencesBy: ReferenceChoice;
  readonly n: number;
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly roles: Readonly<Record<string, { readonly n: number; readonly mean: number }>>;
  readonly rows: JoinCounts;
}

interface Wanted {
  readonly references: string;
  readonly outputs: string;
  /** Without it, the first pair decides. */
  readonly tokens: TokenKind | undefined;
  readonly choice: ReferenceChoice;
  readonly seed: number;
}

async function scoreFiles({ references, outputs, choice, seed, ...wanted }: Wanted): Promise<ScoredFiles> {
  let { tokens } = wanted;
  const sums = new Map<string, ClusterSum>();
  const rows = await joinAnswers({ references, outputs }, ({ role, answers }, { answers: [answer = ''] }) => {
    tokens ??= isChinese(answers.join('')) ? 'han' : 'words';
    const { sum, n } = sums.get(role) ?? { sum: 0, n: 0 };
    sums.set(role, { sum: sum + (rougeL(answer, answers, { tokens, references: choice }) as number), n: n + 1 });
  });
  const { value, n, low, high } = clusteredMean([...sums.values()], { seed });
  const roles = Object.fromEntries([...sums].map(([role, each]) => [role, { n: each.n, mean: each.sum / each.n }]));
  return { metric: 'rouge-l', tokens: tokens ?? null, referencesBy: choice, n, mean: value, low, high, roles, rows };
}

function asText({ tokens, referencesBy, n, mean, low, high, roles, rows }: ScoredFiles): string {
  const { references, outputs, referencesWithoutOutput, outputsWithoutReference, unreadable, unpaired } = rows;
  const number = (value: number | null): string => (value === null ? '–' : value.toFixed(4));
  return [
    `ROUGE-L, tokens ${tokens ?? 'of no row'}, ${referencesBy} of the references`,
    table(
      ['role', 'n', 'ROUGE-L', '95 %'],
      [
        ...Object.entries(roles).map(([role, each]) => [role, String(each.n), number(each.mean), '']),
        ['all', String(n), number(mean), low === null || high === null ? '–' : `${number(low)}–${number(high)}`],
      ],
      { numbers: true },
    ),
    `${references} references, ${outputs} outputs`,
    referencesWithoutOutput === 0 ? '' : `  ${referencesWithoutOutput} references without an output`,
    outputsWithoutReference === 0 ? '' : `  ${outputsWithoutReference} outputs without a reference`,
    unreadable === 0 ? '' : `  ${unreadable} rows without a question or an answer, or not JSON`,
    ...unpaired.map(({ file, line, role, question }) => `  ${file}, line ${line}: ${role}: ${question}`),
  ]
    .filter(Boolean)
    .join('\n');
}
