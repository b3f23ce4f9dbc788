/** A word or a sound, with its seconds from the start. */
export interface Placed {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Words and sounds that fit `pcmOf`: each word lasts 60 ms, of which `m` has 20 and `ɑ` 40. */
export function placedIn(text: string): { readonly words: readonly Placed[]; readonly sounds: readonly Placed[] } {
  const words = text.split(/\s+/).map((word, index) => ({ text: word, start: index * 0.06, end: index * 0.06 + 0.06 }));
  const sounds = words.flatMap(({ start, end }) => [
    { text: 'm', start, end: start + 0.02 },
    { text: 'ɑ', start: start + 0.02, end },
  ]);
  return { words, sounds };
}
