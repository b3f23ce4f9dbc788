import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { cardSchema, dialoguePairSchema, type Card, type DialoguePair } from './card.ts';
import { CharacterError } from './character-error.ts';
import type { SceneCast } from './scene.ts';

/** A character: its card and example dialogue, read from one folder, frozen. */
export interface Character extends Card {
  readonly lines: readonly DialoguePair[];
  /** Set if this is not a single character but a scene with several. */
  readonly stage?: SceneCast;
}

/** Reads one pack: `card.json` and `lines.jsonl`. Throws `CharacterError` naming the invalid file and row. */
export async function loadCharacter(folder: string): Promise<Character> {
  const cardPath = path.join(folder, 'card.json');
  const card = parseFile(cardSchema, await readText(cardPath), cardPath);
  if (card.id !== path.basename(folder)) {
    throw new CharacterError(`${cardPath}: id "${card.id}" must equal the folder's name "${path.basename(folder)}"`);
  }
  const linesPath = path.join(folder, 'lines.jsonl');
  const rows = (await readText(linesPath)).split('\n');
  const lines = rows.flatMap((row, index) =>
    row.trim() === '' ? [] : [parseFile(dialoguePairSchema, row, `${linesPath}:${index + 1}`)],
  );
  return Object.freeze({ ...card, lines: Object.freeze(lines) });
}

/**
 * Reads every pack in a folder, sorted by id, except sub-folders without a `card.json` and those that begin with a dot
 * (being written). `onBroken` gets the error of an unreadable pack, which is left out; without it, the error is thrown.
 */
export async function loadCharacters(
  folder: string,
  onBroken: (fault: unknown) => void = rethrow,
): Promise<readonly Character[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new CharacterError(`${folder}: the folder does not exist; check the path`, { cause });
  });
  const names = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name);
  const packs = await Promise.all(
    names.toSorted().map(async (name) => {
      try {
        const files = await readdir(path.join(folder, name));
        return files.includes('card.json') ? await loadCharacter(path.join(folder, name)) : undefined;
      } catch (fault) {
        onBroken(fault);
        return undefined;
      }
    }),
  );
  return packs.filter((pack) => pack !== undefined);
}

function rethrow(fault: unknown): never {
  throw fault;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CharacterError(`${file}: cannot be read`, { cause });
  }
}

function parseFile<Schema extends z.ZodType>(schema: Schema, text: string, where: string): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CharacterError(`${where}: not valid JSON`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new CharacterError(`${where}:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
