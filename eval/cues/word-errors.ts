/** Edit distance between a transcript and the text that should have been spoken. */
export interface WordErrors {
  /** Substitutions, insertions and deletions, in units: words in English, characters in Chinese. */
  readonly edits: number;
  readonly units: number;
}

/**
 * Counts errors as Seed-TTS-eval does: removes punctuation except the apostrophe; English in lower case, by words;
 * Chinese by characters. (Seed-TTS-eval also maps traditional characters to simplified ones first, which is not done
 * here.)
 */
export function wordErrors(said: string, heard: string, language: 'en' | 'zh'): WordErrors {
  const [wanted, found] = [unitsOf(said, language), unitsOf(heard, language)];
  let row = Array.from({ length: found.length + 1 }, (_, index) => index);
  for (const [at, unit] of wanted.entries()) {
    const next = [at + 1];
    for (const [to, other] of found.entries()) {
      const change = (row[to] as number) + (unit === other ? 0 : 1);
      next.push(Math.min(change, (row[to + 1] as number) + 1, (next[to] as number) + 1));
    }
    row = next;
  }
  return { edits: row[found.length] as number, units: wanted.length };
}

function unitsOf(text: string, language: 'en' | 'zh'): string[] {
  const plain = text
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replaceAll(/[^\p{L}\p{N}\p{M}'\s]/gu, language === 'zh' ? '' : ' ')
    .toLowerCase();
  return language === 'zh' ? (plain.match(/\S/gu) ?? []) : plain.split(/\s+/).filter((word) => word !== '');
}
