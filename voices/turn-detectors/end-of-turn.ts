import type { Pause } from './built-in.ts';
import { soundLogit } from './sound.ts';
import { wordsLogit } from './words.ts';

/**
 * Weights of the log-odds of words and sound, either of which may be missing. Chosen on the tuned half of the real speech of
 * `test/bench/endpointing/speech`, so that pauses of learners, whose words the recognizer often mishears, and of fluent speakers are
 * both spared: see `test/bench/MEASURED.md`.
 */
const weights = {
  both: { bias: -0.4, words: 1, sound: 0.5 },
  words: { bias: 0, words: 1, sound: 0 },
  sound: { bias: -0.36, words: 0, sound: 0.56 },
};

/**
 * Beside words, a sound that is final counts no more than this: fluent speakers let the voice fall at each phrase. A
 * voice that hesitates counts in full.
 */
const mostUrging = 1;

/** End-of-turn probability of a pause, by the words and the sound before it. Pure. */
export function endOfTurnProbability({ text, samples, sampleRate, ...known }: Pause): number {
  const words = text === undefined ? 0 : wordsLogit(text, known);
  return probabilityOf({ words, sound: soundLogit({ samples, sampleRate }) });
}

/** Joins the log-odds of words and sound; 0 is unknown, and nothing known is undecided. */
export function probabilityOf({ words = 0, sound = 0 }: { words?: number; sound?: number }): number {
  if (words === 0 && sound === 0) return 0.5;
  const by = words === 0 ? weights.sound : sound === 0 ? weights.words : weights.both;
  const heard = words === 0 ? sound : Math.min(mostUrging, sound);
  return 1 / (1 + Math.exp(-(by.bias + by.words * words + by.sound * heard)));
}
