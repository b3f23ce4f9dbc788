import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CharacterError } from '../../../characters/character-error.ts';
import { writePack } from '../../../characters/pack-folder.ts';
import { importers } from '../../../characters/importers/open-importer.ts';
import { openCard } from '../../../characters/tavern/open-card.ts';
import { toPack } from '../../../characters/tavern/to-pack.ts';
import { makeDataDir } from '../../data-dir.ts';
import { builtInCharacters, importedCharacters } from '../../serve.ts';
import { printable } from '../printable.ts';
import { parseCommand, UsageError } from '../usage.ts';

/** `dramatis characters import FILE…`: cards of other programs become characters of this one. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'import FILE… [--id ID] [--replace] [--from DATASET]', args, {
    id: { type: 'string', value: 'ID', help: 'what the character is to be called here; only with one file' },
    from: {
      type: 'string',
      value: 'DATASET',
      help: `read a data set instead of cards: ${Object.keys(importers).join(', ')}`,
    },
    replace: { type: 'boolean', help: 'write over the character of that id' },
  });
  if (parsed === undefined) return 0;
  const { positionals: files, values, config } = parsed;
  if (files.length === 0) throw new UsageError('Which cards? dramatis characters import FILE… (PNG, JSON or CHARX)');
  if (values.id !== undefined && files.length > 1) throw new UsageError('--id goes with one file.');
  makeDataDir(config.dataDir);
  const parent = importedCharacters(config);
  if (values.from !== undefined)
    return importDataset(String(values.from), files, { parent, replace: values.replace === true });
  let failed = 0;
  for (const file of files) {
    try {
      const opened = await openCard(file);
      const { notes, ...pack } = toPack(opened.card, file, typeof values.id === 'string' ? values.id : undefined);
      const source = JSON.stringify(opened.card.whole);
      await writePack(parent, { ...opened, ...pack, source }, values.replace === true);
      console.log(
        printable(
          `${path.basename(file)}: ${pack.card.name} is now ${pack.card.id}, ${pack.lines.length} example lines`,
        ),
      );
      if (existsSync(path.join(builtInCharacters, pack.card.id)))
        console.log('  note: in place of the one that comes with Dramatis; --id keeps both');
      for (const note of notes) console.log(printable(`  note: ${note}`));
    } catch (fault) {
      if (!(fault instanceof CharacterError)) throw fault;
      failed += 1;
      process.stderr.write(`${fault.message}\n`);
    }
  }
  if (files.length - failed > 0) console.log('Talk to them at the next `dramatis serve`.');
  return failed === 0 ? 0 : 1;
}

/** Makes characters of a data set, and says by file and row what is wrong with it. */
async function importDataset(
  name: string,
  places: readonly string[],
  { parent, replace }: { readonly parent: string; readonly replace: boolean },
): Promise<number> {
  const load = Object.hasOwn(importers, name) ? importers[name] : undefined;
  if (load === undefined) throw new UsageError(`--from is one of ${Object.keys(importers).join(', ')}.`);
  const read = await load();
  let made = 0;
  let failed = 0;
  for (const place of places) {
    const { packs, problems } = await read(place);
    for (const { card, lines, voice } of packs) {
      try {
        const files = voice === undefined ? undefined : new Map([['voice.wav', await readFile(voice.file)]]);
        await writePack(parent, { card, lines, ...(files === undefined ? {} : { files }) }, replace);
        made += 1;
        const clip = voice === undefined ? '' : ', a voice clip';
        console.log(printable(`${card.id}: ${card.name}, ${lines.length} example lines${clip}`));
      } catch (fault) {
        if (!(fault instanceof CharacterError)) throw fault;
        failed += 1;
        process.stderr.write(`${fault.message}\n`);
      }
    }
    for (const { where, what } of problems) process.stderr.write(printable(`${where}: ${what}\n`));
    console.log(`${place}: ${packs.length} characters, ${problems.length} problems`);
  }
  if (made > 0) console.log('Talk to them at the next `dramatis serve`.');
  return failed === 0 && made > 0 ? 0 : 1;
}
