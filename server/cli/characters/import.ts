import path from 'node:path';
import { cardSchema } from '../../../characters/card.ts';
import { CharacterError } from '../../../characters/character-error.ts';
import { writePack } from '../../../characters/pack-folder.ts';
import { importers } from '../../../characters/importers/open-importer.ts';
import { openCard } from '../../../characters/tavern/open-card.ts';
import { toPack } from '../../../characters/tavern/to-pack.ts';
import { makeDataDir } from '../../config/data-dir.ts';
import { importedCharacters } from '../../cast/cast.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { UsageError } from '../../terminal/flags.ts';
import { noteLine, printLine } from '../../terminal/text.ts';
import { scriptedNote } from '../scripted-note.ts';
import { importDataset } from './import-dataset.ts';
import { shadowingNotes } from './shadowing-notes.ts';

/** `dramatis characters import FILE…`: converts character cards of other programs to character packs. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'import FILE… [--id ID] [--replace] [--from DATASET]', args, {
    id: { type: 'string', value: 'ID', help: 'id of the character; only for one file' },
    from: {
      type: 'string',
      value: 'DATASET',
      help: `read a data set instead of cards: ${Object.keys(importers).join(', ')}`,
    },
    replace: { type: 'boolean', help: 'overwrite an existing character with that id' },
  });
  if (parsed === undefined) return 0;
  const { positionals: files, values, config } = parsed;
  if (files.length === 0) throw new UsageError('Name the cards: dramatis characters import FILE… (PNG, JSON or CHARX)');
  if (values.id !== undefined && files.length > 1) throw new UsageError('--id needs exactly one file.');
  const id = typeof values.id === 'string' ? values.id : undefined;
  if (id !== undefined && !cardSchema.shape.id.safeParse(id).success)
    throw new UsageError('--id must be lower-case words joined by hyphens.');
  const replace = values.replace === true;
  const parent = importedCharacters(config);
  makeDataDir(parent);
  if (values.from !== undefined) return importDataset(config, files, { from: String(values.from), id, replace });
  let failed = 0;
  for (const file of files) {
    try {
      const opened = await openCard(file);
      const { notes, ...pack } = toPack(opened.card, file, id);
      const source = JSON.stringify(opened.card.whole);
      await writePack(parent, { ...opened, ...pack, source }, replace);
      printLine(
        `${path.basename(file)}: ${pack.card.name} imported as ${pack.card.id}, ${pack.lines.length} example lines`,
      );
      for (const note of [...shadowingNotes(config, pack.card.id), ...notes]) printLine(`  note: ${note}`);
    } catch (fault) {
      if (!(fault instanceof CharacterError)) throw fault;
      failed += 1;
      noteLine(fault.message);
    }
  }
  if (files.length - failed > 0) {
    printLine('They are available after the next `dramatis serve`.');
    const note = scriptedNote(config);
    if (note !== undefined) noteLine(note);
  }
  return failed === 0 ? 0 : 1;
}
