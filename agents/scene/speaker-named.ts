/** Marker that a model writes when a scene is over (CoSER). */
export const endMark = '<END CHAT>';

const label =
  /(?:next[\s_-]*speaker["'`*_#\s]*(?:[:：=-]|\bis\b)|下一(?:个|位)?(?:发言|说话|讲话|开口)?(?:的?(?:人|者|角色))?(?:应该|应当|该)?(?:是|为|[:：]))(.*)$/gimu;
const ends = new Set(
  'end chat|endchat|end|the end|end scene|end of scene|end of the scene|scene end|scene ends|the scene ends|the scene is over|scene over|结束|对话结束|结束对话|场景结束|本场结束|剧终|全剧终'.split(
    '|',
  ),
);
/** Text that may follow a name that is the answer, rather than part of its reasoning. */
const afterAnswer =
  /^\s*(?:$|[,，.。;；:：()（）!！–—-]|(?:because|since|for|as|should|must|will|would|is (?:the )?next|is to|speaks next|goes next|next)\b|因为|应该|应当|接着|接下来|来说|会|说|继续)/iu;

/** Alternative name of a participant. */
export interface Alias {
  readonly name: string;
  readonly alias: string;
}

/**
 * Finds the name of a list that a model's answer means: `end` for "<END CHAT>" and the like, undefined if it names
 * nobody. Ignores Markdown, quotes, labels and reasoning before it. A line "Next Speaker: X" takes precedence, then the
 * last line, then the name mentioned last; an alias or part of a name counts if it is unambiguous.
 */
export function speakerNamed(
  answer: string,
  names: readonly string[],
  aliases: readonly Alias[] = [],
): string | undefined {
  const said = answer.split('</think>').at(-1) ?? '';
  const labelled = [...said.matchAll(label)].map((match) => match[1] ?? '').findLast((rest) => plain(rest) !== '');
  if (labelled !== undefined) {
    const found = inAnswer(labelled, names, aliases, 'first');
    if (found !== undefined) return found;
  }
  const lines = said.split('\n').filter((line) => plain(line) !== '');
  for (const place of [lines.at(-1) ?? '', said]) {
    const found = inAnswer(place, names, aliases, 'last');
    if (found !== undefined) return found;
  }
  return undefined;
}

function inAnswer(
  text: string,
  names: readonly string[],
  aliases: readonly Alias[],
  which: 'first' | 'last',
): string | undefined {
  const said = plain(text);
  if (ends.has(said)) return 'end';
  const whole = placesOf(said, [
    ...names.map((name) => ({ name, word: plain(name) })),
    { name: 'end', word: plain(endMark) },
  ]);
  const others = [...aliases.map(({ name, alias }) => ({ name, word: plain(alias) })), ...partsOnlyOneHas(names)];
  const places = whole.length > 0 ? whole : placesOf(said, others);
  const [first] = places;
  if (first === undefined) return undefined;
  const answersAtOnce = first.at === 0 && afterAnswer.test(afterName(text, first.word));
  return which === 'first' || answersAtOnce ? first.name : places.at(-1)?.name;
}

interface Place {
  readonly name: string;
  readonly word: string;
  readonly at: number;
}

/** Positions of names, in order; of two at one position, such as "Anne" and "Anne Elliot", the longer one. */
function placesOf(said: string, wanted: readonly { readonly name: string; readonly word: string }[]): Place[] {
  const found = wanted.flatMap(({ name, word }) => occurrences(said, word).map((at) => ({ name, word, at })));
  const longestFirst = found.toSorted((left, right) => left.at - right.at || right.word.length - left.word.length);
  return longestFirst.filter(
    (place) =>
      !found.some(
        (other) =>
          other.word.length > place.word.length &&
          other.at <= place.at &&
          other.at + other.word.length >= place.at + place.word.length,
      ),
  );
}

function occurrences(said: string, word: string): number[] {
  if (word === '') return [];
  const isHan = /\p{Script=Han}/u.test(word);
  const [text, sought] = isHan ? [said, word] : [` ${said} `, ` ${word} `];
  const found: number[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1)) found.push(at);
  return found;
}

/** The text after a name, with its punctuation: only letters are compared. */
function afterName(text: string, word: string): string {
  let letters = word.replaceAll(' ', '').length;
  let at = 0;
  for (const sign of text.normalize('NFKD')) {
    if (letters === 0) break;
    at += sign.length;
    if (/[\p{L}\p{N}]/u.test(sign)) letters -= 1;
  }
  return text
    .normalize('NFKD')
    .slice(at)
    .replace(/^[\p{M}*_"'”’»」』`\s]+/u, '');
}

/** Parts of names that may be used alone, such as "Holmes" and "黛玉". */
export function partsOf(name: string): string[] {
  const said = plain(name);
  if (/^\p{Script=Han}{3}$/u.test(said)) return [said.slice(1)];
  const words = said.split(' ');
  return words.length > 1 ? words.filter((word) => word.length > 3) : [];
}

function partsOnlyOneHas(names: readonly string[]): { name: string; word: string }[] {
  const parts = names.flatMap((name) => partsOf(name).map((word) => ({ name, word })));
  return parts.filter(({ name, word }) => !parts.some((other) => other.word === word && other.name !== name));
}

/** Normalizes to letters and digits, in lower case and without accents. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
