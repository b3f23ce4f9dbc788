/** Finds the phrase that a piece of speech belongs to. */
export interface PhraseFollower<Phrase> {
  /** Notes a phrase that goes to the synthesizer. */
  handed(phrase: Phrase): void;
  /**
   * Returns the phrase of the next piece of speech, and whether it is the first of it; pieces come in order and add up to
   * their phrase.
   */
  phraseOf(text: string): { readonly phrase: Phrase | undefined; readonly isFirst: boolean };
}

export function followPhrases<Phrase extends { readonly text: string }>(): PhraseFollower<Phrase> {
  const waiting: Phrase[] = [];
  let current: Phrase | undefined;
  let left = '';
  return {
    handed: (phrase) => void waiting.push(phrase),
    phraseOf(text) {
      const before = current;
      while (waiting.length > 0 && (current === undefined || left === '' || !left.startsWith(text))) {
        current = waiting.shift();
        left = current?.text ?? '';
      }
      left = left.slice(text.length);
      return { phrase: current, isFirst: current !== before };
    },
  };
}
