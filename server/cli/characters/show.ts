import { findCharacter } from '../../cast/cast.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { UsageError } from '../../terminal/flags.ts';
import { jsonText, printLine, wrap } from '../../terminal/text.ts';

/** `dramatis characters show ID`: prints the whole card. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('characters', 'show ID [--json]', args, {
    json: { type: 'boolean', help: 'print card and lines as one JSON object' },
  });
  if (parsed === undefined) return 0;
  const [id] = parsed.positionals;
  if (id === undefined) throw new UsageError('Name a character: dramatis characters show ID');
  const { character } = await findCharacter(parsed.config, id);
  if (parsed.values.json === true) {
    printLine(jsonText(character, 2));
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
    Identity: identity,
    Profile: profile,
    Background: background,
    Experiences: [
      ...experiences.slice(0, 3),
      ...(experiences.length > 3 ? [`… ${experiences.length} in total`] : []),
    ].join('\n'),
    Scene: scenario,
    Temperament: temperament.join(', '),
    Style: style,
    Knows: knowledge.knows,
    'Does not know': knowledge.unknown,
    Greetings: character.greetings.join('\n'),
    Rights: `${character.work.title}: ${character.work.rights}`,
    Lore: character.lorebook.map((entry) => `${entry.keys.join(', ') || 'always'}: ${entry.content}`).join('\n'),
    Lines: `${character.lines.length} example lines, such as\n${character.lines
      .slice(0, 3)
      .map((line) => `  ${line.asks[0] ?? ''} - ${line.reply}`)
      .join('\n')}`,
  };
  printLine(`${name} (${character.id}), speaks ${character.languages.join(', ')}`);
  for (const [title, text] of Object.entries(sections)) {
    if (text.trim() !== '') printLine(`\n${title}\n${wrap(indented(text), 2)}`);
  }
  return 0;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
