import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CharacterError } from '../character-error.ts';
import type { Problem } from './draft.ts';

/** Text of a file, or undefined where there is none. */
export async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

/** JSON of a file. Throws `CharacterError` that names it. */
export async function jsonOf(file: string): Promise<unknown> {
  const text = await textOf(file);
  if (text === undefined) throw new CharacterError(`${file}: cannot be read; check the path`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new CharacterError(`${file}: not valid JSON`, { cause });
  }
}

/** Rows of a JSONL file with their numbers, from 1; rows that are no JSON are told as problems. */
export async function jsonRows(file: string, problems: Problem[]): Promise<{ row: number; value: unknown }[]> {
  const text = await textOf(file);
  if (text === undefined) throw new CharacterError(`${file}: cannot be read; check the path`);
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [{ row: index + 1, value: JSON.parse(line) as unknown }];
    } catch {
      problems.push({ where: `${file}:${index + 1}`, what: 'not valid JSON' });
      return [];
    }
  });
}

/** Files in a folder, or the file itself, that end so; sorted. Throws `CharacterError` where there are none. */
export async function filesEnding(place: string, ending: string): Promise<string[]> {
  const facts = await stat(place).catch(() => undefined);
  if (facts?.isFile() === true) return [place];
  const names = await readdir(place, { recursive: true }).catch(() => []);
  const files = names.filter((name) => name.endsWith(ending)).map((name) => path.join(place, name));
  if (files.length === 0) throw new CharacterError(`${place}: no ${ending} file there`);
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
