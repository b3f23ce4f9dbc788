import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import type { Sample } from '../../task.ts';
import { languageOf, paperRoles } from './roles.ts';

/** Input for the system under test. */
export interface DialogueInput {
  readonly role: string;
  readonly language: 'en' | 'zh';
  readonly mode: 'single' | 'multi';
  /** Index from 0 among the dialogues of this role and mode. */
  readonly index: number;
  readonly domain: 'in' | 'out';
  /** One of the eight sub-tasks; null if the data has none. */
  readonly category: string | null;
  readonly systemPrompt: string;
  readonly turns: readonly {
    readonly text: string;
    /** Absolute path; null without a recording. */ readonly speech: string | null;
  }[];
}

/** Reference answers of the role, by turn. */
export interface DialogueTarget {
  readonly turns: readonly { readonly text: string; readonly speech: string | null }[];
}

export type DialogueSample = Sample<DialogueInput, DialogueTarget>;

/** Test set as found on disk, possibly incomplete. */
export interface TestData {
  readonly samples: readonly DialogueSample[];
  /** Problems, by name. Dialogues with problems stay in `samples` unless they cannot be read. */
  readonly problems: readonly string[];
  /** SHA-256 of the texts that were read: the same for the same texts and ids. */
  readonly hash: string;
}

const optionalPath = z.string().min(1).nullish().catch(null);
const turn = z.looseObject({
  user: z.string(),
  role: z.string(),
  user_speech_path: optionalPath,
  role_speech_path: optionalPath,
});
const dialogues = z.array(
  z.looseObject({
    dialogue: z.array(turn).min(1),
    system_prompt: z.string().default(''),
    context: z.unknown(),
    category: z.string().nullish(),
  }),
);

export interface TestDataOptions {
  /** Key of the reference in data versions with several: `role_speech_path1` to `3`. */
  readonly reference?: string | undefined;
}

/**
 * Reads the released test data: `test_data/{single,multi}_turn/<role>.json`. `folder` contains `test_data`, or is
 * `test_data` itself; paths in the files are relative to the former. In versions with three references the chosen one
 * is used, or `role_speech_path` if that is absent. Throws an `EvalError` if there is no test data at all.
 */
export async function readTestData(folder: string, options: TestDataOptions = {}): Promise<TestData> {
  const { base, testData } = await findTestData(folder);
  const reader = new Reader(base, options.reference ?? 'role_speech_path1');
  for (const mode of ['single', 'multi'] as const) {
    const place = path.join(testData, `${mode}_turn`);
    const names = await readdir(place).catch(() => undefined);
    if (names === undefined) reader.problems.push(`${place}: this folder is missing`);
    for (const name of (names ?? []).filter((each) => each.endsWith('.json')).toSorted()) {
      await reader.read(path.join(place, name), mode);
    }
  }
  const { samples, problems } = reader;
  if (samples.length === 0) throw new EvalError('data', `${folder}: no dialogues found. ${problems[0] ?? ''}`.trim());
  return { samples, problems, hash: reader.hash.digest('hex') };
}

async function findTestData(folder: string): Promise<{ readonly base: string; readonly testData: string }> {
  const isFolder = async (place: string): Promise<boolean> =>
    (await stat(place).catch(() => undefined))?.isDirectory() === true;
  const whole = path.resolve(folder);
  if (await isFolder(path.join(whole, 'test_data'))) return { base: whole, testData: path.join(whole, 'test_data') };
  if ((await isFolder(path.join(whole, 'single_turn'))) || (await isFolder(path.join(whole, 'multi_turn'))))
    return { base: path.dirname(whole), testData: whole };
  throw new EvalError(
    'data',
    `${folder}: there is no test data. Give the folder that contains test_data/, with single_turn/ and multi_turn/ in it.`,
  );
}

class Reader {
  readonly samples: DialogueSample[] = [];
  readonly problems: string[] = [];
  readonly hash = createHash('sha256');
  readonly #base: string;
  readonly #reference: string;

  constructor(base: string, reference: string) {
    this.#base = base;
    this.#reference = reference;
  }

  async read(file: string, mode: 'single' | 'multi'): Promise<void> {
    const text = await readFile(file, 'utf8');
    // Role keys are file names: they may contain dots, spaces and underscores, and are opaque.
    const role = path.basename(file, '.json');
    let parsed: z.infer<typeof dialogues>;
    try {
      parsed = dialogues.parse(JSON.parse(text));
    } catch (fault) {
      const issue = fault instanceof z.ZodError ? fault.issues[0] : undefined;
      const why = issue === undefined ? 'not valid JSON' : `${issue.path.join('.')}: ${issue.message}`;
      this.problems.push(`${file}: ${why}`);
      return;
    }
    this.#checkName(file, role, parsed[0]?.system_prompt ?? '');
    for (const [index, each] of parsed.entries()) {
      const id = `${mode}/${role}/${index}`;
      const sample: DialogueSample = {
        id,
        group: role,
        input: {
          role,
          language: languageOf(role, each.dialogue.map((one) => one.user + one.role).join('')),
          mode,
          index,
          domain: paperRoles[role]?.split === 'dev' ? 'out' : 'in',
          category: each.category ?? null,
          systemPrompt: each.system_prompt,
          turns: each.dialogue.map((one) => ({ text: one.user, speech: this.#resolve(one.user_speech_path) })),
        },
        target: {
          turns: each.dialogue.map((one) => ({ text: one.role, speech: this.#resolve(this.#referenceOf(one)) })),
        },
      };
      this.hash.update(JSON.stringify([id, each.system_prompt, each.dialogue.map((one) => [one.user, one.role])]));
      this.samples.push(sample);
      await this.#checkSpeech(sample);
    }
  }

  #referenceOf(one: z.infer<typeof turn>): string | null | undefined {
    const chosen = one[this.#reference];
    const first = one['role_speech_path1'];
    return [chosen, one.role_speech_path, first].find(
      (each): each is string => typeof each === 'string' && each !== '',
    );
  }

  #resolve(place: string | null | undefined): string | null {
    if (place === null || place === undefined) return null;
    // Paths written on Windows have backslashes.
    return path.resolve(this.#base, place.replaceAll('\\', '/'));
  }

  async #checkSpeech({ id, input, target }: DialogueSample): Promise<void> {
    const sides = [
      ['user', input.turns],
      ['role', target.turns],
    ] as const;
    for (const [side, turns] of sides) {
      for (const [at, { speech }] of turns.entries()) {
        if (speech === null) this.problems.push(`${id}: turn ${at} names no recording of the ${side}`);
        else if (!(await isThere(speech))) this.problems.push(`${id}: ${speech} is missing (${side}, turn ${at})`);
      }
    }
  }

  /** Reports a prompt for another role than the file name says, as with "Raylan Givens" in the released data. */
  #checkName(file: string, role: string, systemPrompt: string): void {
    const name = roleNameOf(systemPrompt);
    if (name === null || !/[a-z]/i.test(name) || paperRoles[role]?.language === 'zh') return;
    const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]{2,}/g) ?? [];
    const known = words(name);
    const alike = words(role).some((word) => known.some((other) => distance(word, other) <= word.length / 4));
    if (!alike) this.problems.push(`${file}: mislabelled? The prompt plays ${name}.`);
  }
}

/**
 * Returns the role's name as the reference's judge gets it: the text after "I want you to act like" in the first line,
 * without the last character.
 */
export function roleNameOf(systemPrompt: string): string | null {
  const [line = ''] = systemPrompt.split('\n');
  const found = /^\s*I want you to act like (.+)$/.exec(line.trimEnd());
  return found?.[1] === undefined ? null : found[1].slice(0, -1);
}

async function isThere(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true && found.size > 0;
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
