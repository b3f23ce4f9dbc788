import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { onlyPositional, parseFlags, textFlag, type FlagFacts } from '../../../server/terminal/flags.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { EvalError } from '../../eval-error.ts';
import { jsonRowsOf } from '../../text/data.ts';
import type { Dialogue } from '../records/dialogue.ts';
import { reviewedDialoguesIn } from '../records/decisions.ts';
import { KnownTexts, type Leak } from '../records/contamination.ts';
import type { DataHost } from './host.ts';

const flags = {
  against: { type: 'string', value: 'PATH', help: 'test data of a paper, or another build: a file or a folder' },
  characters: {
    type: 'string',
    value: 'DIR',
    help: 'character packs, such as those of `characters import`: their example lines must not be held out',
  },
} as const satisfies Record<string, FlagFacts>;

const shownLeaks = 10;

/** `dramatis data check DIR [--against PATH]`. Resolves to 1 if train and test have a conversation in common. */
export async function run(args: readonly string[], host: DataHost): Promise<number> {
  const about = 'Reads every dialogue of a build, counts them, and looks for leaks between train and test.';
  const synopsis = 'DIR [--against PATH] [--characters DIR]';
  const parsed = parseFlags({ name: 'data check', synopsis, about, flags }, args, host.print);
  if (parsed === undefined) return 0;
  const folder = onlyPositional(parsed.positionals, 'the folder of a build');
  const against = textFlag(parsed.values.against);
  const known = against === undefined ? await heldOutOf(folder) : await textsIn(against, host);
  const counts = {
    language: new Map<string, number>(),
    source: new Map<string, number>(),
    split: new Map<string, number>(),
  };
  const leaks: Leak[] = [];
  let turns = 0;
  for await (const dialogue of reviewedDialoguesIn(folder)) {
    const split = splitOf(dialogue.labels);
    for (const [name, value] of [
      ['language', dialogue.language],
      ['source', dialogue.source],
      ['split', split],
    ] as const)
      counts[name].set(value, (counts[name].get(value) ?? 0) + 1);
    turns += dialogue.turns.length;
    const leak = split === 'test' ? undefined : known.leakOf(dialogue);
    if (leak !== undefined) leaks.push(leak);
  }
  const characters = textFlag(parsed.values.characters);
  const packs = characters === undefined ? [] : await packsIn(characters);
  for (const pack of packs)
    for (const dialogue of exampleLines(pack)) {
      const leak = known.leakOf(dialogue);
      if (leak !== undefined) leaks.push(leak);
    }
  for (const [name, values] of Object.entries(counts))
    host.print(`  ${name.padEnd(10)}${[...values].map(([value, count]) => `${value} ${count}`).join(', ')}`);
  host.print(`  turns     ${turns}`);
  if (characters !== undefined) host.print(`  packs     ${packs.length} of characters`);
  host.print(`  leaks     ${leaks.length} between train and ${against ?? 'the held-out dialogues'}`);
  for (const { id, why, text } of leaks.slice(0, shownLeaks))
    host.print(`    ${id}: ${why}${text === '' ? '' : ` ("${text}")`}`);
  return leaks.length === 0 ? 0 : 1;
}

function splitOf(labels: Readonly<Record<string, unknown>> | undefined): string {
  return typeof labels?.['split'] === 'string' ? labels['split'] : 'train';
}

async function packsIn(folder: string): Promise<readonly Character[]> {
  try {
    return await loadCharacters(folder);
  } catch (cause) {
    throw new EvalError('data', `--characters: ${folder} contains no readable character packs.`, cause);
  }
}

/** The example lines of a pack, each as a dialogue. */
function exampleLines({ id, name, lines }: Character): readonly Dialogue[] {
  return lines.flatMap(({ asks, reply }) =>
    asks.map((ask) => ({
      id: `character ${id}`,
      language: 'en',
      source: id,
      rights: '',
      turns: [
        { speaker: 'User', kind: 'user', text: ask },
        { speaker: name, kind: 'character', text: reply },
      ],
    })),
  );
}

async function heldOutOf(folder: string): Promise<KnownTexts> {
  const known = new KnownTexts();
  for await (const dialogue of reviewedDialoguesIn(folder))
    if (splitOf(dialogue.labels) === 'test') known.addDialogue(dialogue);
  return known;
}

/** Texts of test data: the held-out rows of a build, or all rows of all files. */
async function textsIn(place: string, host: DataHost): Promise<KnownTexts> {
  const found = await stat(place).catch((cause: unknown) => {
    throw new EvalError('data', `--against: ${place} cannot be read.`, cause);
  });
  const names = found.isDirectory() ? await readdir(place, { recursive: true }) : [''];
  if (names.includes('dialogues.jsonl')) return heldOutOf(place);
  const files = names.map((name) => path.join(place, name)).filter((file) => /\.jsonl?$/i.test(file));
  if (files.length === 0) throw new EvalError('data', `--against: ${place} contains no .json or .jsonl file.`);
  const known = new KnownTexts();
  for (const file of files.sort())
    for await (const { value } of jsonRowsOf(file, (where) => host.note(`cannot be read: ${where}`)))
      known.addRow(value);
  return known;
}
