import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { editDistance } from '../../statistics.ts';
import { isChinese } from '../../text-metrics/tokens.ts';
import type { Sample } from '../../task.ts';
import { readFileSync } from 'node:fs';

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
  /** Number of dialogues that could not be read. */
  readonly dropped: number;
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

const dialogue = z.looseObject({
  dialogue: z.array(turn).min(1),
  system_prompt: z.string().default(''),
  category: z.string().nullish(),
});

const usualReference = 'role_speech_path1';

export interface TestDataOptions {
  /** Key of the reference in data versions with several: `role_speech_path1` (default) to `3`. */
  readonly reference?: string | undefined;
}

/**
 * Reads the released test data: `test_data/{single,multi}_turn/<role>.json`. `folder` contains `test_data`, or is
 * `test_data` itself; paths in the files are relative to the former. In versions with three references the chosen one
 * is used, or `role_speech_path` where that is absent. Throws an `EvalError` if there is no test data at all, or none with
 * the chosen reference.
 */
export async function readTestData(folder: string, options: TestDataOptions = {}): Promise<TestData> {
  const { base, testData } = await findTestData(folder);
  const reader = new Reader(base, options.reference ?? usualReference);
  for (const mode of ['single', 'multi'] as const) {
    const place = path.join(testData, `${mode}_turn`);
    const names = await readdir(place).catch(() => undefined);
    if (names === undefined) reader.problems.push(`${place}: this folder is missing`);
    for (const name of (names ?? []).filter((each) => each.endsWith('.json')).toSorted()) {
      await reader.read(path.join(place, name), mode);
    }
  }
  const { samples, problems, dropped } = reader;
  if (samples.length === 0) throw new EvalError('data', `${folder}: no dialogues found. ${problems[0] ?? ''}`.trim());
  reader.requireReference();
  return { samples, problems, dropped, hash: reader.hash.digest('hex') };
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
  dropped = 0;
  readonly hash = createHash('sha256');
  readonly #base: string;
  readonly #reference: string;
  readonly #references = new Set<string>();

  constructor(base: string, reference: string) {
    this.#base = base;
    this.#reference = reference;
  }

  async read(file: string, mode: 'single' | 'multi'): Promise<void> {
    const text = await readFile(file, 'utf8');
    // Role keys are file names: they may contain dots, spaces and underscores, and are opaque.
    const role = path.basename(file, '.json');
    const rows = listIn(text);
    if (rows === undefined) {
      this.problems.push(`${file}: not a JSON array of dialogues`);
      return;
    }
    const parsed = rows.map((row) => dialogue.safeParse(row));
    this.#checkName(file, role, parsed.find(({ success }) => success)?.data?.system_prompt ?? '');
    for (const [index, { data: each, error }] of parsed.entries()) {
      if (each === undefined) {
        const [issue] = error?.issues ?? [];
        this.problems.push(`${file}[${index}]: ${issue?.path.join('.')}: ${issue?.message}`);
        this.dropped += 1;
        continue;
      }
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

  /** Throws an `EvalError` if a reference was chosen that no turn has. */
  requireReference(): void {
    const known = [...this.#references].toSorted();
    if (this.#reference === usualReference || known.includes(this.#reference)) return;
    throw new EvalError('usage', `The data has no reference "${this.#reference}". It has: ${known.join(', ')}.`);
  }

  #referenceOf(one: z.infer<typeof turn>): string | null | undefined {
    for (const [key, value] of Object.entries(one))
      if (/^role_speech_path\d*$/.test(key) && typeof value === 'string') this.#references.add(key);
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
    const alike = words(role).some((word) => known.some((other) => editDistance(word, other) <= word.length / 4));
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

function listIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\u{FEFF}/u, ''));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function isThere(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true && found.size > 0;
}

const schema = z.record(
  z.string(),
  z.object({
    language: z.enum(['en', 'zh']),
    gender: z.enum(['female', 'male']),
    /**
     * Split of the role's other dialogues: `train` is in-domain for models trained on SpeechRole-Data, `dev`
     * out-of-domain.
     */
    split: z.enum(['train', 'dev']),
  }),
);

/** The paper's Tables 5 and 6: its 98 roles by the keys that the data uses (the tables misspell three). */
export const paperRoles = schema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'paper-roles.json'), 'utf8')),
);

/** 98 roles with 4 dialogues each. */
export const paperSampleCount = 392;

/** Returns a role's language; for roles not in the paper, Chinese if at least a tenth of the text is Han. */
export function languageOf(role: string, text: string): 'en' | 'zh' {
  const known = paperRoles[role]?.language;
  return known ?? (isChinese(text) ? 'zh' : 'en');
}
