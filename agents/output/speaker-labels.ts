import type { EndingFilter } from './text-filter.ts';

/** Speaker labels that a model writes when it begins to speak for the other side. */
const otherLabels = [
  ...['user', 'human', 'visitor', 'me', 'system', 'director', 'ooc', '访客', '用户', '客人'].flatMap(colons),
  '<notes>',
  '### instruction',
  '### input',
  '### user',
  '### human',
];
const ownLabels = [
  ...['assistant', 'you', 'ai', 'bot', '助手', '回答', '你'].flatMap(colons),
  '### response:',
  '### assistant:',
  'assistant\n',
];

/**
 * Filters speaker labels: removes the character's name or an alias from the start of a line ("Holmes: Pray continue."),
 * and ends the reply at a line labelled for the user or for one of the `others`. The start of a line is held back only
 * while it may still become a label.
 */
export function speakerLabelFilter(
  name: string,
  others: readonly string[] = [],
  aliases: readonly string[] = [],
): EndingFilter {
  const own = [...[name, ...aliases].flatMap(labelsOf), ...ownLabels];
  const notOwn = [...otherLabels, ...others.flatMap(labelsOf).filter((label) => !own.includes(label))];
  const all = [...own, ...notOwn];
  // White space and marks may stand before a label.
  const longestStart = Math.max(...all.map((label) => label.length)) + 64;
  let held = '';
  let place: 'line-start' | 'after-label' | 'line' | 'end' = 'line-start';

  /** Advances one step and returns text to speak; undefined if more input is needed. */
  const step = (isLast: boolean): string | undefined => {
    if (held === '' || place === 'end') return undefined;
    if (place === 'line-start') {
      const start = held.slice(0, longestStart);
      const head = start.replace(/^[\s*_"]+/, '').toLowerCase();
      const label = own.find((each) => head.startsWith(each));
      if (notOwn.some((each) => head.startsWith(each))) place = 'end';
      else if (label !== undefined) {
        held = held.slice(start.toLowerCase().indexOf(label) + label.length);
        place = 'after-label';
      } else if (!isLast && held.length < longestStart && all.some((each) => each.startsWith(head))) return undefined;
      else place = 'line';
      return '';
    }
    if (place === 'after-label') {
      held = held.replace(/^[\s*_]+/, '');
      if (held !== '') place = 'line';
      return '';
    }
    const end = held.indexOf('\n') + 1 || held.length;
    const spoken = held.slice(0, end);
    held = held.slice(end);
    if (spoken.endsWith('\n')) place = 'line-start';
    return spoken;
  };
  const take = (isLast: boolean): string => {
    let spoken = '';
    for (let part = step(isLast); part !== undefined; part = step(isLast)) spoken += part;
    return spoken;
  };

  return {
    add(delta) {
      held += delta;
      return take(false);
    },
    rest: () => take(true),
    hasEnded: () => place === 'end',
  };
}

/** The same for a model that was asked to write `Name:「…」`, as ChatHaruhi does: removes the quotes, too. */
export function quotedWords(words: EndingFilter): EndingFilter {
  return { ...words, add: (delta) => words.add(delta.replaceAll(/[「」]/gu, '')) };
}

function colons(word: string): string[] {
  return [`${word}:`, `${word}：`];
}

/** The name and those of its parts that are names; a three-character Chinese name without the family name too. */
function labelsOf(name: string): string[] {
  const words = name.split(/[^\p{L}\p{M}'’-]+/u).filter((word) => /^(?:\p{Lu}|\p{Script=Han}|d['’])/u.test(word));
  const given = words.filter((word) => /^\p{Script=Han}{3}$/u.test(word)).map((word) => word.slice(1));
  return [name, ...words, ...given].filter((word) => word.length > 1).flatMap((word) => colons(word.toLowerCase()));
}
