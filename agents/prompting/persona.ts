import type { Character } from '../../characters/character.ts';
import { isOfWorld, type DialoguePair } from '../../characters/card.ts';
import { constantLore } from './lorebook.ts';
import { oncePer } from '../once-per.ts';
import { personaWords, withoutNotesTags, type PersonaWords } from './persona-words.ts';

/** The constant part of the prompt, the same for every turn and every user; written once for each character. */
export const personaOf = oncePer(writePersona);

function writePersona(character: Character): string {
  const { name, identity, knowledge, directions } = character;
  const words = personaWords(character);
  const { headings } = words;
  const facts = constantLore(character).map((content) => `- ${content}`);
  const people = character.relationships.map((person) => `- ${person.name}: ${person.relation}`);
  const until = knowledge.untilYear === undefined ? '' : ` ${words.until(knowledge.untilYear)}`;
  const parts: readonly (readonly [heading: string, text: string])[] = [
    [headings.who, character.profile],
    [headings.life, character.background],
    [headings.people, people.join('\n')],
    [headings.temperament, character.temperament.join(words.comma)],
    [headings.style, character.style],
    [headings.catchphrases, catchphrases(character, words)],
    [headings.knows, `${knowledge.knows}${until}`],
    [headings.unknown, `${knowledge.unknown} ${words.meetUnknown(name)}`],
    [headings.facts, facts.join('\n')],
    [
      headings.samples,
      samples(character)
        .map((pair) => asExample(pair, words))
        .join('\n'),
    ],
    [headings.place, character.scenario ?? ''],
    // Directions come from the card's author, so our rules come after them.
    [headings.maker, [directions?.before, directions?.after].filter(Boolean).join('\n')],
  ];
  return [
    withoutForgery(words.youAre(name, identity)),
    ...parts.filter(([, text]) => text !== '').map(([heading, text]) => `# ${heading}\n${withoutForgery(text)}`),
    `# ${headings.rules}\n${words.rules}`,
  ].join('\n\n');
}

/** One exchange, as an example of the character's tone. */
export function asExample(pair: DialoguePair, { visitor, you }: PersonaWords): string {
  return `${visitor}: ${pair.asks[0] ?? ''}\n${you}: ${pair.reply}`;
}

function catchphrases({ catchphrases: phrases }: Character, { sparingly }: PersonaWords): string {
  return phrases.length === 0 ? '' : `${phrases.map((phrase) => `"${phrase}"`).join(' ')} ${sparingly}`;
}

/** A few exchanges spread over the pack, always the same ones. */
function samples(character: Character): DialoguePair[] {
  const own = character.lines.filter(
    (pair) => !isOfWorld(pair) && (pair.language === undefined || pair.language === character.languages[0]),
  );
  return [0.1, 0.3, 0.5].flatMap((share) => own[Math.floor(own.length * share)] ?? []);
}

/** Strips headings and notes tags: card text is untrusted and must not imitate ours. */
export function withoutForgery(text: string): string {
  return withoutNotesTags(text).replaceAll(/^[ \t]*#+[ \t]*/gm, '');
}
