import { charactersForOneSpoken } from '../limits.ts';

/** Returns Chinese if more than a fifth of the letters are Han, otherwise English. */
export function languageOfText(text: string): 'en' | 'zh' {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return han * 5 > letters ? 'zh' : 'en';
}

/** Returns the first sentence, without markup; '' if there is none. */
export function firstSentence(text: string): string {
  const plain = withoutMarkup(text.slice(0, 400 * charactersForOneSpoken))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const end = /[.!?](?=["”’')]*(?:\s|$))|[。！？]/u.exec(plain);
  return end === null ? plain.slice(0, 400) : plain.slice(0, end.index + 1);
}

/**
 * Returns the spoken part of a written message: drops actions between asterisks, links, headings and the like; if
 * speech is in quotation marks and actions around it, only the speech stays. Whole sentences, `longest` characters at
 * most.
 */
export function aloudOf(written: string, longest: number): string {
  const message = written.slice(0, longest * charactersForOneSpoken);
  const withoutActs = message.replaceAll(/(?<!\*)\*(?!\*)[^*\n]{1,4000}\*(?!\*)/g, '\n');
  const quoted = quotedIn(message);
  const acted = withoutActs.length < message.length * 0.9;
  const spoken = quoted.length > 0 && !acted ? quoted.join(' ') : withoutActs;
  const plain = withoutMarkup(spoken)
    .replaceAll(/["“”「」『』]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return wholeSentences(plain, longest);
}

/** Texts in quotation marks of up to 2,000 characters, each to the nearest closing mark. */
function quotedIn(text: string): string[] {
  const found: string[] = [];
  const closings = [...text.matchAll(/["”」』]/gu)].map(({ index }) => index);
  let place = 0;
  let end = -1;
  for (const { index } of text.matchAll(/["“「『]/gu)) {
    if (index <= end) continue;
    while ((closings[place] ?? Infinity) <= index) place += 1;
    const length = (closings[place] ?? Infinity) - index - 1;
    if (length < 1 || length > 2_000) continue;
    end = index + 1 + length;
    found.push(text.slice(index + 1, end));
  }
  return found;
}

function withoutMarkup(text: string): string {
  return withoutScripts(text)
    .replaceAll(/<[^<>]{0,2000}>/g, ' ')
    .replaceAll(/!?\[([^[\]]{0,500})\]\([^)]{0,2000}\)/g, '$1')
    .replaceAll(/https?:\/\/\S+/g, '')
    .replaceAll(/^[#>\s-]+/gm, '')
    .replaceAll(/[*_~`]+/g, '');
}

/** Replaces scripts and styles by a space. A pattern from tag to tag would look for each end through all of the text. */
function withoutScripts(text: string): string {
  let kept = '';
  let at = 0;
  let inside: string | undefined;
  for (const { 0: tag, 1: end, 2: name = '', index } of text.matchAll(/<(\/)?(script|style)\b[^<>]*>/giu)) {
    const isEnd = end !== undefined;
    if (inside === undefined && !isEnd) {
      kept += text.slice(at, index);
      at = index;
      inside = name.toLowerCase();
    } else if (isEnd && inside === name.toLowerCase()) {
      kept += ' ';
      at = index + tag.length;
      inside = undefined;
    }
  }
  return kept + text.slice(at);
}

/** Returns as many whole sentences from the start as fit; a first one that is too long is cut at a word. */
export function wholeSentences(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const head = text.slice(0, longest);
  const ends = [...head.matchAll(/[.!?](?=["”’')]*\s)|[。！？]/gu)];
  const last = ends.at(-1);
  return last === undefined ? head.replace(/\s+\S*$/u, '') : head.slice(0, last.index + 1);
}
