import { readCast } from '../../cast/cast.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { table } from '../../terminal/table.ts';
import { jsonText, printLine } from '../../terminal/text.ts';

/** `dramatis characters`, or `characters list`: lists the characters. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand(
    'characters',
    '[list] [--json] | show ID | check [ID…] | new --text FILE | import FILE… | export ID | remove ID',
    args,
    {
      json: { type: 'boolean', help: 'print one JSON array' },
    },
  );
  if (parsed === undefined) return 0;
  const characters = [...(await readCast(parsed.config)).values()].filter(({ stage }) => stage === undefined);
  if (parsed.values.json === true) {
    const rows = characters.map(({ id, name, tagline, languages, work, lines }) => ({
      id,
      name,
      tagline,
      languages,
      work: work.title,
      pairs: lines.length,
    }));
    printLine(jsonText(rows, 2));
    return 0;
  }
  const rows = characters.map((one) => [
    one.id,
    one.name,
    one.languages.join(' '),
    String(one.lines.length),
    one.tagline,
  ]);
  printLine(table(['id', 'name', 'languages', 'lines', 'description'], rows));
  return 0;
}
