import { textFlag } from '../../../server/terminal/flags.ts';
import type { CheckedData, ReadingValues } from '../../benchmark.ts';
import { paperRoles, paperSampleCount, readTestData, type TestDataOptions } from './test-data.ts';

/** Inventory of a test-data folder. */
export interface DataCheck {
  readonly samples: number;
  readonly expected: number;
  /** Dialogues that could not be read. */
  readonly dropped: number;
  readonly byLanguage: Readonly<Record<'en' | 'zh', number>>;
  readonly byMode: Readonly<Record<'single' | 'multi', number>>;
  /** Number of dialogues by sub-task; those without one under `none`. */
  readonly byCategory: Readonly<Record<string, number>>;
  /** Number of dialogues with all their recordings. */
  readonly complete: number;
  readonly missingRoles: readonly string[];
  readonly unknownRoles: readonly string[];
  readonly problems: readonly string[];
  readonly hash: string;
}

/** Compares a folder of test data with the paper's 392 dialogues. */
export async function checkData(folder: string, options: TestDataOptions = {}): Promise<DataCheck> {
  const { samples, problems, dropped, hash } = await readTestData(folder, options);
  const roles = new Set(samples.map((sample) => sample.group));
  const count = (select: (sample: (typeof samples)[number]) => boolean): number => samples.filter(select).length;
  const tainted = new Set(problems.map((problem) => problem.slice(0, problem.indexOf(': '))));
  const byCategory = Map.groupBy(samples, (sample) => sample.input.category ?? 'none');
  return {
    samples: samples.length,
    expected: paperSampleCount,
    dropped,
    byLanguage: {
      en: count(({ input }) => input.language === 'en'),
      zh: count(({ input }) => input.language === 'zh'),
    },
    byMode: {
      single: count(({ input }) => input.mode === 'single'),
      multi: count(({ input }) => input.mode === 'multi'),
    },
    byCategory: Object.fromEntries([...byCategory].map(([category, of]) => [category, of.length])),
    complete: count(({ id }) => !tainted.has(id)),
    missingRoles: Object.keys(paperRoles).filter((role) => !roles.has(role)),
    unknownRoles: [...roles].filter((role) => !(role in paperRoles)),
    problems,
    hash,
  };
}

/** Compares the folder that contains `test_data/` with the paper's 392 dialogues. */
export async function checkSpeechData(folder: string, values: ReadingValues): Promise<CheckedData> {
  const check = await checkData(folder, { reference: textFlag(values['reference']) });
  return {
    json: check,
    text: asText(check),
    isComplete: check.problems.length === 0 && check.samples === check.expected,
  };
}

function asText(check: DataCheck): string {
  const { samples, expected, dropped, byLanguage, byMode, byCategory, complete, missingRoles, unknownRoles, problems } =
    check;
  return [
    `${samples} of ${expected} dialogues, ${complete} with all their recordings`,
    dropped === 0 ? '' : `${dropped} dialogues are unreadable and left out`,
    `English ${byLanguage.en}, Chinese ${byLanguage.zh}; single turn ${byMode.single}, multi-turn ${byMode.multi}`,
    ...Object.entries(byCategory).map(([category, count]) => `  ${category}: ${count}`),
    missingRoles.length === 0
      ? ''
      : `${missingRoles.length} roles of the paper are missing: ${missingRoles.join(', ')}`,
    unknownRoles.length === 0 ? '' : `roles that are not in the paper: ${unknownRoles.join(', ')}`,
    ...problems,
    `data hash ${check.hash}`,
  ]
    .filter(Boolean)
    .join('\n');
}
