import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { EvalError } from '../eval-error.ts';
import type { TextConfig } from './config.ts';
import type { SampleFacts } from './text-task.ts';

/** SHA-256 of what makes the data: every file, and the selection. Files that are not there count as such. */
export async function dataHash(files: readonly string[], selection: unknown): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(selection));
  for (const file of files) {
    hash.update(`\n${path.basename(file)}:`);
    if ((await stat(file).catch(() => undefined)) === undefined) continue;
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

/** Reads a JSON file. Throws an `EvalError` that names it, and names a pointer of Git LFS as such. */
export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new EvalError('data', `${file} cannot be read. Check the path.`, cause);
  });
  refusePointer(file, text);
  try {
    return JSON.parse(text.replace(/^\u{FEFF}/u, ''));
  } catch (cause) {
    throw new EvalError('data', `${file} is not JSON. Get the file again.`, cause);
  }
}

/** Rows of a JSONL file, or of a JSON array, with their numbers from 1; unreadable ones go to `onBad`. */
export async function* jsonRowsOf(
  file: string,
  onBad: (where: string) => void,
): AsyncGenerator<{ readonly row: number; readonly value: unknown }> {
  if (/\.json$/i.test(file)) {
    const whole = await readJsonFile(file);
    const list: readonly unknown[] = Array.isArray(whole) ? whole : [whole];
    for (const [at, value] of list.entries()) yield { row: at + 1, value };
    return;
  }
  if ((await stat(file).catch(() => undefined)) === undefined)
    throw new EvalError('data', `${file} cannot be read. Check the path.`);
  let row = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    row += 1;
    if (row === 1) refusePointer(file, text);
    if (text.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(text.replace(/^\u{FEFF}/u, ''));
    } catch {
      onBad(`${file}:${row}: not JSON`);
      continue;
    }
    yield { row, value };
  }
}

function refusePointer(file: string, text: string): void {
  if (!text.startsWith('version https://git-lfs')) return;
  throw new EvalError('data', `${file} is a pointer of Git LFS, not the data. Run \`git lfs pull\` in its repository.`);
}

/** True if a sample is among those that the run selects, apart from `--limit`. */
export function isSelected({ role, language }: SampleFacts, { select }: Pick<TextConfig, 'select'>): boolean {
  return (
    (select.roles === undefined || select.roles.includes(role)) &&
    (select.language === undefined || select.language === language)
  );
}

/** Short hash of a text, for ids that hold names in any script. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
