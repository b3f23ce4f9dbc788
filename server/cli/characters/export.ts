import path from 'node:path';
import { readAssets, readPicture, readSource } from '../../../characters/pack-folder.ts';
import { readCardJson } from '../../../characters/tavern/card-file.ts';
import { fromPack } from '../../../characters/tavern/from-pack.ts';
import { cardFormats, writeCardBytes, type CardFormat } from '../../../characters/tavern/open-card.ts';
import { writeFileAtomic } from '../../../voices/runtime/files.ts';
import { findCharacter } from '../../cast/cast.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { requirePlaceFor, UsageError } from '../../terminal/flags.ts';
import { outputOf } from '../../terminal/text.ts';
import { clipFacts } from '../../engines/library-clip.ts';

/** `dramatis characters export ID`: writes a character card that other programs can open. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'export ID [--format png|json|charx] [--spec v2|v3] [--out FILE]', args, {
    format: {
      type: 'string',
      value: 'FORMAT',
      help: 'png (image with the card inside), json or charx (default png)',
    },
    spec: { type: 'string', value: 'VERSION', help: 'version of the Character Card: v2 or v3 (default v3)' },
    out: { type: 'string', value: 'FILE', help: 'file to write (default: ID.FORMAT); - for standard output' },
  });
  if (parsed === undefined) return 0;
  const [id, ...more] = parsed.positionals;
  if (id === undefined || more.length > 0) throw new UsageError('Name a character: dramatis characters export ID');
  const { format = 'png', spec = 'v3', out } = parsed.values;
  if (typeof out === 'string') requirePlaceFor(out);
  if (!isFormat(format)) throw new UsageError(`--format must be one of ${cardFormats.join(', ')}.`);
  if (spec !== 'v2' && spec !== 'v3') throw new UsageError('--spec must be v2 or v3.');
  const { character, folder } = await findCharacter(parsed.config, id);
  const { lines, ...card } = character;
  const source = await readSource(folder);
  const clip = await clipFacts(parsed.config.dataDir, card.voice.reference);
  const tavern = fromPack({ card, lines, clip }, source === undefined ? undefined : readCardJson(source, folder));
  const picture = await readPicture(folder);
  const files = await readAssets(folder);
  const file = typeof out === 'string' ? out : `${id}.${format}`;
  const bytes = writeCardBytes({ card: tavern, files, ...(picture === undefined ? {} : { picture }) }, format, spec);
  const { target, tell } = outputOf(file);
  if (typeof target === 'string') await writeFileAtomic(target, bytes);
  else target.write(bytes);
  tell(`${path.basename(file)}: ${character.name}, ${spec.toUpperCase()}, ${Math.ceil(bytes.length / 1024)} KiB`);
  return 0;
}

function isFormat(format: string | boolean): format is CardFormat {
  return cardFormats.some((each) => each === format);
}
