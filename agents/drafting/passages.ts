/** A piece of a long text, made of whole paragraphs if they are short enough. */
export interface Passage {
  readonly text: string;
  /** Start in the whole text, in UTF-16 units. */
  readonly offset: number;
}

/** Longest passage in characters: long enough for a scene, short enough for 8,000 tokens, also in Chinese. */
const longest = 5_000;

/** Cuts a text into passages that end with a paragraph, otherwise with a sentence, otherwise anywhere. */
export function passagesOf(text: string, most = longest): Passage[] {
  const passages: Passage[] = [];
  let offset = 0;
  while (offset < text.length) {
    const rest = text.slice(offset, offset + most);
    const end = offset + most >= text.length ? rest.length : endOf(rest);
    passages.push({ text: rest.slice(0, end), offset });
    offset += end;
  }
  return passages.filter((passage) => passage.text.trim() !== '');
}

function endOf(text: string): number {
  const least = text.length / 2;
  const paragraph = text.lastIndexOf('\n\n');
  if (paragraph > least) return paragraph + 2;
  const sentences = [...text.matchAll(/[.!?。！？]["”’」』)]*\s*/gu)];
  const last = sentences.at(-1);
  const sentence = last === undefined ? 0 : last.index + last[0].length;
  if (sentence > least) return sentence;
  // Never splits a surrogate pair.
  return /[\uD800-\uDBFF]$/u.test(text) ? text.length - 1 : text.length;
}

/** Normalizes a text for finding quotes: single spaces, one kind of quotation mark, lower case. */
export function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[‘’`]/gu, "'")
    .replaceAll(/[“”„«»]/gu, '"')
    .replaceAll(/[‐-―]/gu, '-')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
