import type { AudioFrame } from '../audio.ts';
import type { TurnOptions } from '../turn-detector.ts';
import { soundLogit } from './sound.ts';
import { wordsLogit } from './words.ts';

/** A pause in a turn: the end of its audio, and what is known of its words. */
export interface Pause extends Pick<TurnOptions, 'text' | 'language' | 'before'> {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

/** Audio that is looked at: long enough to know the speaker's range, short enough to take a few milliseconds. */
const lookedAtMs = 3_000;

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

export function pauseOf(
  { samples, sampleRate }: AudioFrame,
  { text, language, before }: Omit<TurnOptions, 'signal'>,
): Pause {
  return {
    samples: new Float32Array(samples.subarray(-Math.ceil((lookedAtMs / 1000) * sampleRate))),
    sampleRate,
    ...(text === undefined ? {} : { text }),
    ...(language === undefined ? {} : { language }),
    ...(before === undefined ? {} : { before }),
  };
}

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
