import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { CharacterError } from '../character-error.ts';
import type { Problem } from './draft.ts';

/** Limit of a file that is read whole; JSONL rows are streamed, so their files have no limit. */
const mostBytes = 256 * 2 ** 20;
/** Limit of one row; a longer one is not a data set. */
const longestRow = 16 * 2 ** 20;
const notUtf8 = 'is not UTF-8 text (GBK? UTF-16?); convert it first';

/** Reads a text file; undefined if there is none. Throws `CharacterError` if it is not UTF-8, or too long. */
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

/** The same, but adds a file that cannot be read to the problems. */
export async function textOrProblem(file: string, problems: Problem[]): Promise<string | undefined> {
  try {
    return await textOf(file);
  } catch (fault) {
    if (!(fault instanceof CharacterError)) throw fault;
    problems.push({ where: file, what: fault.message.slice(`${file}: `.length) });
    return undefined;
  }
}

/** Parses a JSON file; undefined, and added to the problems, if it cannot be read or parsed. */
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

/** Streams the rows of a JSONL file, numbered from 1. Rows that are not JSON, or not UTF-8, become problems. */
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
        problems.push({ where: file, what: 'has a row of over 16 MiB; this is not a file of rows' });
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

/** Files in a folder with one of the endings, sorted, or the file itself. Throws `CharacterError` if there are none. */
export async function filesEnding(place: string, ...endings: readonly string[]): Promise<string[]> {
  const facts = await stat(place).catch(() => undefined);
  if (facts === undefined) throw new CharacterError(`${place}: the file or folder does not exist; check the path`);
  if (facts.isFile()) return [place];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => path.join(entry.parentPath, entry.name));
  if (files.length === 0) throw new CharacterError(`${place}: no ${endings.join(' or ')} file there`);
  return files.toSorted();
}

/** Returns the first of these folders below `place` that exists. */
export async function folderBelow(place: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const folder = path.join(place, name);
    if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return folder;
  }
  return undefined;
}

/** Describes the first validation error: the field, and the message. */
export function misfit({ issues }: z.ZodError): string {
  const [issue] = issues;
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? ''}`;
}
