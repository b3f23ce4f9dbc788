import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { EvalError } from '../eval-error.ts';
import { rowsOf, type AnswerRow } from '../text-metrics/answer-files.ts';
import { dataHash, isSelected, readJsonFile, shortHash } from '../text/data.ts';
import type { TextConfig } from '../text/config.ts';
import type { LoadedData, SampleFacts } from '../text/text-task.ts';
import { fileOf, plainAnswers, plainFile, type RoleBenchTest } from './scores.ts';

/** One question to a role, with the answers to compare with. */
export interface RoleBenchFacts extends SampleFacts {
  readonly part: 'general' | 'role_specific';
  readonly split: RoleBenchTest['split'];
  readonly description: string;
  readonly question: string;
  readonly references: readonly string[];
  /** Origin of each reference; empty for general questions. */
  readonly types: readonly string[];
  /** Plain answers of the source of a general question; null if their file is not there. */
  readonly plain: readonly string[] | null;
  /** Answer of the opponent; null without a judge, or if it has none. */
  readonly opponent: string | null;
  /** Number of earlier rows with the same role and question. */
  readonly occurrence: number;
}

const parts = ['general', 'role_specific'] as const;

interface Settings extends TextConfig, Pick<RoleBenchTest, 'language' | 'split'> {
  readonly opponent?: string | undefined;
}

/** Reads a test set of RoleBench. Throws an `EvalError` if it has no file, or if a character knows its questions. */
export async function loadRoleBench(config: Settings): Promise<LoadedData<RoleBenchFacts>> {
  const { data, language, split, select } = config;
  if (language === 'zh' && split === 'role') throw new EvalError('usage', '--split role exists only in English.');
  const test: RoleBenchTest = { data, language, split };
  const files = await existing(parts.map((part) => fileOf(test, part)));
  if (files.length === 0)
    throw new EvalError('data', `${fileOf(test, 'general')} does not exist. Give the folder of RoleBench.`);
  const descFile = path.join(data, `profiles-${language === 'zh' ? 'zh' : 'eng'}`, 'desc.json');
  const hasDescriptions = (await existing([descFile])).length > 0;
  const described = hasDescriptions ? ((await readJsonFile(descFile)) as Record<string, string>) : {};
  const hasPlain = (await existing([plainFile(test)])).length > 0;
  const plain = await plainAnswers(test);
  const opponents = config.judge === undefined ? undefined : await opponentsOf(config, test);
  const problems = [
    ...(hasDescriptions ? [] : [`${descFile} does not exist: the roles have no descriptions`]),
    ...(hasPlain ? [] : [`${plainFile(test)} does not exist: RAW is missing`]),
    ...parts
      .map((part) => fileOf(test, part))
      .flatMap((file) => (files.includes(file) ? [] : [`${file} does not exist`])),
  ];
  const unreadable = new Set<string>();
  const sources: Sources = {
    test,
    described,
    plain: hasPlain ? plain : null,
    opponents,
    onUnreadable: (file, line) => void (unreadable.size < 20 && unreadable.add(`${file}: an unreadable row, ${line}`)),
  };
  async function* samples(): AsyncGenerator<RoleBenchFacts> {
    for (const part of parts) if (files.includes(fileOf(test, part))) yield* factsOf(part, config, sources);
  }
  let count = 0;
  const roles = new Map<string, 'en' | 'zh'>();
  const asked = new Set<string>();
  for await (const { role, question } of samples()) {
    count += 1;
    roles.set(role, language);
    asked.add(shortHash(question));
  }
  if (config.characters !== undefined) await refuseLeak(config.characters, asked);
  const more = config.opponent === undefined ? [] : [config.opponent];
  const hash = await dataHash([...files, descFile, plainFile(test), ...more], { language, split, select });
  return { samples, count, roles, hash, problems: [...problems, ...unreadable] };
}

interface Sources {
  readonly test: RoleBenchTest;
  readonly described: Readonly<Record<string, string>>;
  /** Null if their file is not there. */
  readonly plain: ReadonlyMap<string, readonly string[]> | null;
  readonly opponents: ((role: string, question: string, at: number) => string | undefined) | undefined;
  readonly onUnreadable: (file: string, number: number) => void;
}

/** Rows of one file that the run selects. */
async function* factsOf(
  part: RoleBenchFacts['part'],
  config: Settings,
  { test, described, plain, opponents, onUnreadable }: Sources,
): AsyncGenerator<RoleBenchFacts> {
  const { language, split } = test;
  const file = fileOf(test, part);
  const seen = new Map<string, number>();
  let [taken, bad] = [0, 0];
  for await (const row of rowsOf(file, () => onUnreadable(file, (bad += 1)))) {
    const { role, question } = row;
    const key = shortHash(`${role}\u{0}${question}`);
    const occurrence = seen.get(key) ?? 0;
    seen.set(key, occurrence + 1);
    const facts: RoleBenchFacts = {
      id: `${language}/${split}/${part}/${row.line}`,
      group: role,
      role,
      language,
      part,
      split,
      description: described[role]?.trim() ?? '',
      question,
      references: row.answers.map((answer) => answer.trim()),
      types: part === 'general' ? [] : typesOf(row),
      plain: part === 'general' && plain !== null ? (plain.get(question) ?? []) : null,
      opponent: opponents?.(role, question, occurrence) ?? null,
      occurrence,
    };
    if (!isSelected(facts, config) || (config.select.limit !== undefined && taken >= config.select.limit)) continue;
    taken += 1;
    yield facts;
  }
}

async function existing(files: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    files.map((file) =>
      stat(file).then(
        () => [file],
        () => [],
      ),
    ),
  );
  return found.flat();
}

/** A text `type` is that of all references, a list has one for each. */
function typesOf({ answers, fields: { type } }: AnswerRow): string[] {
  return answers.map((_, at) => String(Array.isArray(type) ? type[at] : type));
}

/** Answers of a file by role and trimmed question; the nth row of the same question takes the nth answer, or the last. */
export async function answersIn(file: string): Promise<(role: string, question: string, at: number) => string> {
  const found = await answersByQuestion([file]);
  return (role, question, at) => {
    const text = found(role, question, at);
    if (text === undefined) throw new EvalError('data', `${file} has no answer of ${role} to "${question}".`);
    return text;
  };
}

async function answersByQuestion(
  files: readonly string[],
): Promise<(role: string, question: string, at: number) => string | undefined> {
  const answers = new Map<string, string[]>();
  for (const file of files) {
    for await (const {
      role,
      question,
      answers: [answer = ''],
    } of rowsOf(file, () => undefined)) {
      const key = shortKey(role, question);
      answers.set(key, [...(answers.get(key) ?? []), answer.trim()]);
    }
  }
  return (role, question, at) => {
    const list = answers.get(shortKey(role, question)) ?? [];
    return list[Math.min(at, list.length - 1)];
  };
}

function shortKey(role: string, question: string): string {
  return `${role}\u{0}${question.trim()}`;
}

async function opponentsOf({ opponent }: Settings, test: RoleBenchTest) {
  const listed = opponent === undefined ? parts.map((part) => fileOf(test, part, 'rolegpt_baseline')) : [opponent];
  return answersByQuestion(await existing(listed));
}

/** Refuses characters whose own lines hold a question of the test: they would be examined with their own answers. */
async function refuseLeak(folder: string, asked: ReadonlySet<string>): Promise<void> {
  for (const id of await readdir(folder)) {
    const text = await readFile(path.join(folder, id, 'lines.jsonl'), 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      if (line.trim() === '') continue;
      const { asks = [] } = JSON.parse(line) as { asks?: readonly string[] };
      const leaked = asks.find((ask) => asked.has(shortHash(ask.trim())));
      if (leaked !== undefined)
        throw new EvalError(
          'data',
          `${folder}: the lines of ${id} contain a question of the test ("${leaked}"). Import only train.jsonl.`,
        );
    }
  }
}
