import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import type { DataRecord } from '../runner/stage.ts';
import type { TextLanguage } from '../runner/words.ts';

const words = z.array(z.string().trim().min(1));

const role = z.strictObject({
  name: z.string().trim().min(1),
  aliases: words.default([]),
  /** Names to look for in the text; name and aliases by default. */
  search: words.optional(),
  traits: words.min(1),
  manner: words.min(1),
  mbti: z.string().regex(/^[EI][NS][FT][JP]$/),
  world: z.string().default(''),
});

/** A role of the table. */
export type Role = z.infer<typeof role>;

/** Reads the table of roles. Throws an `EvalError` that names the first field that is wrong. */
export async function readRoles(file: string): Promise<readonly Role[]> {
  let value: unknown;
  try {
    value = JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new EvalError('data', `${file} cannot be read as JSON. Give a list of roles.`, cause);
  }
  const parsed = z.array(role).min(1).safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new EvalError('data', `${file}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`);
}

/** Names of a role without those that contain another: counting both would count twice. */
export function searchNames({ name, aliases, search }: Pick<Role, 'name' | 'aliases' | 'search'>): readonly string[] {
  const names = [...new Set(search ?? [name, ...aliases])];
  return names.filter((one) => !names.some((other) => other !== one && one.includes(other)));
}

/** Number of times that a text names a role. */
export function occurrences(text: string, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + text.split(name).length - 1, 0);
}

/** A part of a novel. */
export interface NovelChunk extends DataRecord {
  readonly book: string;
  readonly title: string;
  readonly language: TextLanguage;
  readonly chapter: string;
  readonly text: string;
}

/** A part of a novel with a role in it. */
export interface RoleChunk extends NovelChunk {
  readonly role: string;
  readonly scene: string;
  /** Mean of the scores; 0 before they are asked. */
  readonly score: number;
}

export interface Row {
  readonly role: string;
  readonly dialogue: string;
}

/** A dialogue of a role with one partner. */
export interface PairDialogue extends Omit<RoleChunk, 'text' | 'score'> {
  readonly partner: string;
  readonly rows: readonly Row[];
}
