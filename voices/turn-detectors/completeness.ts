import { writingOf } from '../scripts.ts';
import { chineseCues } from './completeness-chinese.ts';
import { englishCues } from './completeness-english.ts';

/** What there is to see in a transcript that tells whether its speaker has finished; most are 0 or 1. */
export type TextCues = Readonly<Record<string, number>>;

/** Weights of a logistic: natural logarithms of odds ratios. */
export type CueWeights = Readonly<Record<string, number>>;

/**
 * Weights of the cues, from `npm run bench -- endpointing --fit`: a logistic regression on what visitors say in the packs
 * of `characters/`, whole and cut short after each of its words, with the final marks that a recognizer puts. Those in
 * `byHand` are too rare there, or depend on the recognizer; they were set, and not fitted.
 */
const english: CueWeights = { bias: 0 };
const chinese: CueWeights = { bias: 0 };

/** Furthest that words alone can lead, 2 % and 98 %: people do stop after "the", and go on after "thank you". */
const mostLogit = 4;

/**
 * How complete a transcript looks, as the logarithm of the odds: 0 is undecided, above is complete. Knows English and
 * Chinese; of other languages, and where there are no words, it says 0. Pure.
 */
export function textLogit(text: string, language?: string): number {
  const cues = textCues(text, language);
  if (cues === undefined) return 0;
  const weights = cues.language === 'zh' ? chinese : english;
  return Math.max(-mostLogit, Math.min(mostLogit, logistic(cues.cues, weights)));
}

/** The cues of a transcript and the language they are for; undefined where there is nothing to go by. */
export function textCues(
  text: string,
  language?: string,
): { readonly language: 'en' | 'zh'; readonly cues: TextCues } | undefined {
  const writing = writingOf(text);
  if (writing.script === undefined && !/\p{N}/u.test(text)) return undefined;
  // A Chinese speaker may say an English sentence; what the words are written in counts most.
  if (writing.script === 'han') return { language: 'zh', cues: chineseCues(text) };
  const isEnglish = writing.script === 'latin' && (language === undefined || /^(en|zh)\b/i.test(language));
  return isEnglish ? { language: 'en', cues: englishCues(text) } : undefined;
}

/** The weighted sum of cues and the bias: a logit. Cues without a weight do not count. */
export function logistic(cues: TextCues, weights: CueWeights): number {
  return Object.entries(cues).reduce((sum, [cue, value]) => sum + value * (weights[cue] ?? 0), weights['bias'] ?? 0);
}

/** From a logit to a probability. */
export function probabilityOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
