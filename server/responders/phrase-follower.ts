import type { Emotion } from '../../characters/emotion.ts';

/** A phrase on its way to the voice, and how it is said. */
export interface FeltPhrase {
  readonly text: string;
  readonly emotion?: Emotion;
}

/** Knows of which phrase a piece of speech is. */
export interface PhraseFollower {
  /** A phrase goes to the synthesizer. */
  handed(phrase: FeltPhrase): void;
  /** How what comes out of it next is said; pieces come in order, and those of a phrase, joined, give the phrase. */
  emotionOf(text: string): Emotion | undefined;
}

export function followPhrases(): PhraseFollower {
  const waiting: FeltPhrase[] = [];
  let current: FeltPhrase | undefined;
  let left = '';
  return {
    handed: (phrase) => void waiting.push(phrase),
    emotionOf(text) {
      while (waiting.length > 0 && (current === undefined || left === '' || !left.startsWith(text))) {
        current = waiting.shift();
        left = current?.text ?? '';
      }
      left = left.slice(text.length);
      return current?.emotion;
    },
  };
}
