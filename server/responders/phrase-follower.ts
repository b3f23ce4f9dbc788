import type { Emotion } from '../../characters/emotion.ts';
import type { FeltPhrase } from '../session/contract/responder.ts';

/** Finds the phrase that a piece of speech belongs to. */
export interface PhraseFollower {
  /** Notes a phrase that goes to the synthesizer. */
  handed(phrase: FeltPhrase): void;
  /**
   * Returns the emotion of the next piece of speech; pieces come in order, and those of a phrase, joined, give the
   * phrase.
   */
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
