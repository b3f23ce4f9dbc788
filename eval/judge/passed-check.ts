import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import { readRunHeader } from '../run-log.ts';

/** A check of a judge that a run relies on. */
export interface CheckWanted<Result> {
  /** Form of `check.json`. */
  readonly schema: z.ZodType<Result[]>;
  readonly judge: string | undefined;
  /** SHA-256 of the run's prompts. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Names of the probes that the judge did not pass. */
  readonly missed: (results: Result[]) => readonly string[];
}

/** Requires that the check in a folder is of this judge with these prompts, and passed. Throws `EvalError`. */
export async function requirePassedCheck<Result>(
  folder: string,
  { schema, judge, prompts, missed }: CheckWanted<Result>,
): Promise<void> {
  const refuse = (why: string): EvalError =>
    new EvalError('usage', `--judge-check ${folder}: ${why}. Make a new one with \`eval judge-check\`.`);
  const results = await readFile(path.join(folder, 'check.json'), 'utf8')
    .then((text) => schema.parse(JSON.parse(text)))
    .catch(() => {
      throw refuse('contains no finished check');
    });
  const header = await readRunHeader(path.join(folder, 'log.jsonl'));
  if (header.models['judge'] !== judge)
    throw refuse(`is for the judge ${header.models['judge'] ?? 'none'}, not for ${judge ?? 'none'}`);
  const other = Object.keys({ ...prompts, ...header.prompts }).find((file) => prompts[file] !== header.prompts[file]);
  if (other !== undefined) throw refuse(`was made with another ${other}`);
  const names = missed(results);
  if (names.length > 0) throw refuse(`the judge did not pass ${names.join(', ')}`);
}

/** Says what to do about a judge that did not pass; nothing if there are no such probes. */
export function failedCheckAdvice(missed: readonly string[]): string[] {
  if (missed.length === 0) return [];
  return [
    `This judge does not distinguish them: ${missed.join(', ')}.`,
    'Take another judge, or prompts that it understands (--prompts).',
  ];
}
