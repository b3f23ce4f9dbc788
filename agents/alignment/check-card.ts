import type { Character } from '../../characters/character.ts';
import { isFrame, languageOf, searchTerms } from '../retrieval/words.ts';
import { note, type Finding } from './finding.ts';

/** Characters that cannot be spoken: markup, links, placeholders and pictures. */
export const unspeakable = /[*_#<>{}[\]|~`]|https?:|\p{Extended_Pictographic}/u;

/** Checks a card by itself: empty fields, texts that cannot be spoken, lorebook keys that cannot work. */
export function checkCard(character: Character): Finding[] {
  return [...missing(character), ...spoken(character), ...lore(character)];
}

function missing(character: Character): Finding[] {
  const { background, style, temperament, relationships, catchphrases, mbti, knowledge, work, lines } = character;
  const empty: readonly (readonly [field: string, isEmpty: boolean])[] = [
    ['background', background === ''],
    ['style', style === ''],
    ['temperament', temperament.length === 0],
    ['relationships', relationships.length === 0],
    ['catchphrases', catchphrases.length === 0],
    ['mbti', mbti === undefined],
    ['knowledge.untilYear', knowledge.untilYear === undefined && work.year !== undefined && work.year < 1950],
  ];
  return [
    ...empty.filter(([, isEmpty]) => isEmpty).map(([field]) => note('card.json', `${field} is empty`)),
    ...(lines.length === 0
      ? [note('lines.jsonl', 'no example lines: without an LLM, the character only says evasions')]
      : []),
    ...character.languages
      .filter((tag) => !character.evasions.some((text) => languageOf(text, character.languages) === tag))
      .map((tag) => note('card.json', `evasions: none in ${tag}`)),
  ];
}

function spoken({ greetings, evasions, repeatRequests, catchphrases }: Character): Finding[] {
  return Object.entries({ greetings, evasions, repeatRequests, catchphrases }).flatMap(([field, texts]) =>
    texts.flatMap((text, index) => {
      const sign = unspeakable.exec(text)?.[0];
      return sign === undefined ? [] : [note('card.json', `${field}[${index}] cannot be spoken as written: "${sign}"`)];
    }),
  );
}

function lore({ lorebook }: Character): Finding[] {
  const contents = new Map<string, number>();
  return lorebook.flatMap((entry, index) => {
    const place = `lorebook[${index}]`;
    const same = contents.get(entry.content);
    contents.set(entry.content, index);
    const keys = entry.regex === true ? [] : entry.keys;
    const hasNoTopic = (key: string): boolean => searchTerms(key).every(isFrame);
    return [
      ...(same === undefined ? [] : [note('card.json', `${place} says the same as lorebook[${same}]`)]),
      ...keys
        .filter((key) => searchTerms(key).length === 0)
        .map((key) => note('card.json', `${place}: the key "${key}" contains no word and never matches`)),
      ...keys
        .filter((key) => searchTerms(key).length > 0 && hasNoTopic(key))
        .map((key) => note('card.json', `${place}: the key "${key}" matches in nearly every conversation`)),
    ];
  });
}
