import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { CharacterError } from '../character-error.ts';
import type { Problem } from './draft.ts';

/** A file that is read whole; rows are read one by one, however many there are. */
const mostBytes = 256 * 2 ** 20;
/** A longer row is none of a data set. */
const longestRow = 16 * 2 ** 20;
const notUtf8 = 'is no text in UTF-8 (GBK? UTF-16?); convert it first';

/** Text of a file, or undefined where there is none. Throws `CharacterError` where it is no text in UTF-8, or too long. */
export async function textOf(file: string): Promise<string | undefined> {
  const facts = await stat(file).catch(() => undefined);
  if (facts?.isFile() !== true) return undefined;
  if (facts.size > mostBytes) throw new CharacterError(`${file}: is over 256 MiB; split it`);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new CharacterError(`${file}: cannot be read`, { cause });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CharacterError(`${file}: ${notUtf8}`, { cause });
  }
}

/** The same, where a file that cannot be read is one problem among others. */
export async function textOrProblem(file: string, problems: Problem[]): Promise<string | undefined> {
  try {
    return await textOf(file);
  } catch (fault) {
    if (!(fault instanceof CharacterError)) throw fault;
    problems.push({ where: file, what: fault.message.slice(`${file}: `.length) });
    return undefined;
  }
}

/** JSON of a file; undefined, and told as a problem, where there is none. */
export async function jsonOf(file: string, problems: Problem[]): Promise<unknown> {
  const before = problems.length;
  const text = await textOrProblem(file, problems);
  if (text === undefined && problems.length === before) problems.push({ where: file, what: 'cannot be read' });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? (/at position \d+|\(line.*\)/.exec(cause.message)?.[0] ?? '') : '';
    problems.push({ where: file, what: `not valid JSON ${reason}`.trim() });
    return undefined;
  }
}

/**
 * Rows of a JSONL file with their numbers, from 1, one at a time; rows that are no JSON, and a file that is no text in UTF-8 from some
 * row on, are told as problems.
 */
export async function* jsonRows(
  file: string,
  problems: Problem[],
): AsyncGenerator<{ readonly row: number; readonly value: unknown }> {
  let row = 0;
  for await (const line of linesOf(file, problems)) {
    row += 1;
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      problems.push({ where: `${file}:${row}`, what: 'not valid JSON' });
      continue;
    }
    yield { row, value };
  }
}

async function* linesOf(file: string, problems: Problem[]): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held = '';
  try {
    for await (const chunk of createReadStream(file)) {
      const lines = (held + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
      held = lines.pop() ?? '';
      if (held.length > longestRow) {
        problems.push({ where: file, what: 'has a row of over 16 MiB; these are no rows' });
        return;
      }
      yield* lines;
    }
    held += decoder.decode();
  } catch (cause) {
    const isRead = cause instanceof TypeError;
    problems.push({ where: file, what: isRead ? notUtf8 : 'cannot be read' });
    return;
  }
  yield held;
}

/** Files in a folder, or the file itself, that end so; sorted. Throws `CharacterError` where there are none. */
export async function filesEnding(place: string, ...endings: readonly string[]): Promise<string[]> {
  const facts = await stat(place).catch(() => undefined);
  if (facts === undefined) throw new CharacterError(`${place}: there is no such file or folder; check the path`);
  if (facts.isFile()) return [place];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => path.join(entry.parentPath, entry.name));
  if (files.length === 0) throw new CharacterError(`${place}: no ${endings.join(' or ')} file there`);
  return files.toSorted();
}

/** The first of these folders that is there, below `place`; `place` itself is tried first with each. */
export async function folderBelow(place: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const folder = path.join(place, name);
    if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return folder;
  }
  return undefined;
}

/** What first does not fit a shape: the field, and why. */
export function misfit({ issues }: z.ZodError): string {
  const [issue] = issues;
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? ''}`;
}
