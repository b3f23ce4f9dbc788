/** Cut points from best to worst: after a sentence, after a clause, after a space. */
const cutPoints = [/[.!?…。！？]["'”’」』）)]*\s*/gu, /[,;:，；：、—]\s*/gu, /\s+/gu];

/**
 * Splits text that is too long for one call into pieces of about `maxCharacters` UTF-16 units, each at the best cut
 * point in its last two thirds. Pieces that `sayable` rejects are joined to a neighbour, so that every piece produces
 * audio; the result is empty if nothing in the text can be spoken. The joined pieces are the text.
 */
export function splitText(text: string, maxCharacters: number, sayable: (piece: string) => boolean): string[] {
  const found: string[] = [];
  let waiting = '';
  for (let rest = text; rest !== '';) {
    const end = rest.length <= maxCharacters ? rest.length : cutBefore(rest, maxCharacters);
    const piece = waiting + rest.slice(0, end);
    const sounds = sayable(rest.slice(0, end));
    rest = rest.slice(end);
    waiting = '';
    if (sounds) found.push(piece);
    else if (found.length > 0) found[found.length - 1] += piece;
    else waiting = piece;
  }
  return found;
}

function cutBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const pattern of cutPoints) {
    const ends = [...head.matchAll(pattern)].map((match) => match.index + match[0].length);
    const last = ends.findLast((end) => end >= limit / 3);
    if (last !== undefined) return last;
  }
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit;
}
