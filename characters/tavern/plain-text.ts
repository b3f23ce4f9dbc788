/** Returns Chinese if more than a fifth of the letters are Han, otherwise English. */
export function languageOfText(text: string): 'en' | 'zh' {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return han * 5 > letters ? 'zh' : 'en';
}

/** Returns the first sentence, without markup; '' if there is none. */
export function firstSentence(text: string): string {
  const plain = withoutMarkup(text).replaceAll(/\s+/g, ' ').trim();
  const end = /[.!?](?=["”’')]*(?:\s|$))|[。！？]/u.exec(plain);
  return end === null ? plain.slice(0, 400) : plain.slice(0, end.index + 1);
}

/**
 * Returns the spoken part of a written message: drops actions between asterisks, links, headings and the like; if
 * speech is in quotation marks and actions around it, only the speech stays. Whole sentences, `longest` characters at
 * most.
 */
export function aloudOf(message: string, longest: number): string {
  const withoutActs = message.replaceAll(/(?<!\*)\*(?!\*)[^*\n]{1,4000}\*(?!\*)/g, '\n');
  const quoted = [...message.matchAll(/["“「『]([^"”」』]{1,2000})["”」』]/gu)].map(([, said]) => said ?? '');
  const acted = withoutActs.length < message.length * 0.9;
  const spoken = quoted.length > 0 && !acted ? quoted.join(' ') : withoutActs;
  const plain = withoutMarkup(spoken)
    .replaceAll(/["“”「」『』]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return wholeSentences(plain, longest);
}

function withoutMarkup(text: string): string {
  return text
    .replaceAll(/<(script|style)\b[^>]*>.*?<\/\1>/gisu, ' ')
    .replaceAll(/<[^>]{0,2000}>/g, ' ')
    .replaceAll(/!?\[([^\]]{0,500})\]\([^)]{0,2000}\)/g, '$1')
    .replaceAll(/https?:\/\/\S+/g, '')
    .replaceAll(/^[#>\s-]+/gm, '')
    .replaceAll(/[*_~`]+/g, '');
}

/** Returns as many whole sentences from the start as fit; a first one that is too long is cut at a word. */
export function wholeSentences(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const head = text.slice(0, longest);
  const ends = [...head.matchAll(/[.!?](?=["”’')]*\s)|[。！？]/gu)];
  const last = ends.at(-1);
  return last === undefined ? head.replace(/\s+\S*$/u, '') : head.slice(0, last.index + 1);
}
