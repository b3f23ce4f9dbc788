/** Similarity of two texts by Ratcliff and Obershelp: twice the letters in matching blocks by the letters of both. */
export function similarity(left: string, right: string): number {
  const total = left.length + right.length;
  return total === 0 ? 1 : (2 * matchingLetters(left, right)) / total;
}

/** Upper bound of the similarity, by lengths and by letters: cheap, to leave out most of a text. */
export function couldReach(left: string, right: string, least: number): boolean {
  const total = left.length + right.length;
  if (2 * Math.min(left.length, right.length) < least * total) return false;
  const counts = new Map<string, number>();
  for (const letter of right) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let common = 0;
  for (const letter of left) {
    const count = counts.get(letter) ?? 0;
    if (count === 0) continue;
    counts.set(letter, count - 1);
    common += letter.length;
  }
  return 2 * common >= least * total;
}

function matchingLetters(left: string, right: string): number {
  const places = new Map<string, number[]>();
  for (let at = 0; at < right.length; at += 1) {
    const letter = right[at] as string;
    const known = places.get(letter);
    if (known === undefined) places.set(letter, [at]);
    else known.push(at);
  }
  let matched = 0;
  const open: (readonly [number, number, number, number])[] = [[0, left.length, 0, right.length]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const [leftFrom, leftTo, rightFrom, rightTo] = range;
    const block = longestBlock(left, places, range);
    if (block.length === 0) continue;
    matched += block.length;
    open.push([leftFrom, block.left, rightFrom, block.right]);
    open.push([block.left + block.length, leftTo, block.right + block.length, rightTo]);
  }
  return matched;
}

/** The longest common block of two ranges; of several, the first on the left, then the first on the right. */
function longestBlock(
  left: string,
  places: ReadonlyMap<string, readonly number[]>,
  [leftFrom, leftTo, rightFrom, rightTo]: readonly [number, number, number, number],
): { readonly left: number; readonly right: number; readonly length: number } {
  let best = { left: leftFrom, right: rightFrom, length: 0 };
  let lengths = new Map<number, number>();
  for (let at = leftFrom; at < leftTo; at += 1) {
    const next = new Map<number, number>();
    for (const place of places.get(left[at] as string) ?? []) {
      if (place < rightFrom) continue;
      if (place >= rightTo) break;
      const length = (lengths.get(place - 1) ?? 0) + 1;
      next.set(place, length);
      if (length > best.length) best = { left: at - length + 1, right: place - length + 1, length };
    }
    lengths = next;
  }
  return best;
}
