import { findCharacter } from '../../cast/cast.ts';
import { printable } from '../../terminal/printable.ts';
import { parseCommand, UsageError } from '../../terminal/usage.ts';

const width = 100;

/** `dramatis characters show ID`: prints the whole card. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'show ID [--json]', args, {
    json: { type: 'boolean', help: 'print card and lines as one JSON object' },
  });
  if (parsed === undefined) return 0;
  const [id] = parsed.positionals;
  if (id === undefined) throw new UsageError('Which one? dramatis characters show ID');
  const { character } = await findCharacter(parsed.config, id);
  if (parsed.values.json === true) {
    console.log(JSON.stringify(character, undefined, 2));
    return 0;
  }
  const {
    name,
    identity,
    profile,
    background,
    experiences = [],
    scenario = '',
    style,
    temperament,
    knowledge,
  } = character;
  const sections: Readonly<Record<string, string>> = {
    Who: identity,
    Profile: profile,
    Life: background,
    Experiences: [
      ...experiences.slice(0, 3),
      ...(experiences.length > 3 ? [`… ${experiences.length} in all`] : []),
    ].join('\n'),
    Scene: scenario,
    Temperament: temperament.join(', '),
    Style: style,
    Knows: knowledge.knows,
    'Does not know': knowledge.unknown,
    'Greets with': character.greetings.join('\n'),
    Rights: `${character.work.title}: ${character.work.rights}`,
    Lore: character.lorebook.map((entry) => `${entry.keys.join(', ') || 'always'}: ${entry.content}`).join('\n'),
    Lines: `${character.lines.length} exchanges, such as\n${character.lines
      .slice(0, 3)
      .map((line) => `  ${line.asks[0] ?? ''} - ${line.reply}`)
      .join('\n')}`,
  };
  console.log(printable(`${name} (${character.id}), speaks ${character.languages.join(', ')}`));
  for (const [title, text] of Object.entries(sections)) {
    if (text.trim() !== '') console.log(`\n${title}\n${wrapped(printable(text))}`);
  }
  return 0;
}

function wrapped(text: string): string {
  const breakable = new RegExp(`(.{1,${width}})(?:\\s+|$)|(\\S{${width}})`, 'gu');
  return text
    .split('\n')
    .map((line) => `  ${line.replaceAll(breakable, '$1$2\n  ').trim()}`)
    .join('\n');
}
