import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CharacterError } from '../../../characters/character-error.ts';
import { writePack } from '../../../characters/pack-folder.ts';
import type { ImportedPack, Problem } from '../../../characters/importers/draft.ts';
import { importers } from '../../../characters/importers/open-importer.ts';
import type { Config } from '../../config/config.ts';
import { importedCharacters } from '../../cast/cast.ts';
import { UsageError } from '../../terminal/flags.ts';
import { noteLine, printLine } from '../../terminal/text.ts';
import { shadowingNotes } from './shadowing-notes.ts';

/** Import options of a data set. */
export interface DatasetOptions {
  readonly from: string;
  /** Character id; only valid if the data set holds one character. */
  readonly id: string | undefined;
  readonly replace: boolean;
}

/** Problems of one kind that are printed individually: a file of another format has one in every row. */
const mostAlike = 20;

/** Imports characters from data sets and prints problems by file and row. Resolves to the exit status. */
export async function importDataset(
  config: Config,
  places: readonly string[],
  { from, id, replace }: DatasetOptions,
): Promise<number> {
  const load = Object.hasOwn(importers, from) ? importers[from] : undefined;
  if (load === undefined) throw new UsageError(`--from must be one of ${Object.keys(importers).join(', ')}.`);
  const read = await load();
  const parent = importedCharacters(config);
  const made = new Set<string>();
  let failed = 0;
  for (const place of places) {
    const { packs, problems } = await read(place);
    if (id !== undefined && packs.length !== 1)
      throw new UsageError(`--id needs exactly one character; ${place} contains ${packs.length}.`);
    for (const pack of packs) {
      const named = withId(pack, id ?? freeId(pack.card.id, made));
      made.add(named.card.id);
      if (!(await write(parent, named, replace))) failed += 1;
      else for (const note of notesOn(config, named, pack, packs.length)) printLine(`  note: ${note}`);
    }
    tell(problems);
    printLine(`${place}: ${packs.length} characters, ${problems.length} problems`);
  }
  if (made.size > failed) printLine('They are available after the next `dramatis serve`.');
  return failed === 0 && made.size > 0 ? 0 : 1;
}

/** Writes one character pack. Returns false, after printing why, if it cannot be written. */
async function write(parent: string, { card, lines, voice }: ImportedPack, replace: boolean): Promise<boolean> {
  const folder = path.join(parent, card.id);
  if (!replace && existsSync(folder)) {
    noteLine(`${folder}: a character with this id exists; --replace overwrites it`);
    return false;
  }
  try {
    const files = voice === undefined ? undefined : new Map([['voice.wav', await readFile(voice.file)]]);
    await writePack(parent, { card, lines, ...(files === undefined ? {} : { files }) }, replace);
  } catch (fault) {
    if (!(fault instanceof CharacterError)) throw fault;
    noteLine(fault.message);
    return false;
  }
  const clip = voice === undefined ? '' : ', a voice clip';
  printLine(`${card.id}: ${card.name}, ${lines.length} example lines${clip}`);
  return true;
}

function notesOn(config: Config, { card }: ImportedPack, asRead: ImportedPack, count: number): string[] {
  const isRenamed = count > 1 && asRead.card.id !== card.id;
  return [
    ...(isRenamed ? [`renamed: ${asRead.card.id} is another character of this data set`] : []),
    ...shadowingNotes(config, card.id, count === 1),
  ];
}

function withId(pack: ImportedPack, id: string): ImportedPack {
  return { ...pack, card: { ...pack.card, id } };
}

/** Returns an id not yet taken: a second character of the same name becomes `name-2`, deterministically. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  let count = 1;
  let free = id;
  while (taken.has(free)) free = `${id.slice(0, 58)}-${(count += 1)}`;
  return free;
}

function tell(problems: readonly Problem[]): void {
  const counts = new Map<string, number>();
  for (const { where, what } of problems) {
    const kind = `${where.replace(/:\d+$/u, '')} ${what.replaceAll(/\d+|".*?"/gu, '#')}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count <= mostAlike) noteLine(`${where}: ${what}`);
  }
  for (const [kind, count] of counts) if (count > mostAlike) noteLine(`${kind}: ${count - mostAlike} more like this`);
}
