import type { TranscriptPart, Unclear } from '../recognizer.ts';
import { findRepetition } from './repetition.ts';

/** What an English model heard in a piece of audio, and how sure it was. */
export interface Hypothesis {
  /** Empty where it heard no words. */
  readonly text: string;
  /** Natural logarithm of the probability of each token, the end included. At least one. */
  readonly logProbabilities: readonly number[];
  /** The same for "there are no words here". */
  readonly silenceLogProbability: number;
  /** True where it would rather have heard no words, and was made to. */
  readonly reluctant: boolean;
  /** Length of the audio. */
  readonly seconds: number;
  /** What it heard when it listened again, because the first time was doubtful. */
  readonly second?: Hypothesis;
}

/** `babble`: words that were not said, as another language calls them forth. `mumble`: words too uncertain to act on. */
export type Verdict = 'words' | 'nothing' | 'babble' | 'mumble';

export type FinalTranscript = Extract<TranscriptPart, { type: 'transcript-final' }>;

/** Words scored below are not believed, see `scoreOf`. */
const leastScore = -0.385;
/** Scores around that one, where it pays to listen again. */
const doubtful = { from: -0.7, to: -0.2, toReluctant: 0.2 };
/** The score of words that the second listening did not hear at all. */
const unheardScore = -1;
/** Words that the model was made to say have at least this many tokens, the end included, in at least this much audio. */
const leastReluctantTokens = 3;
const leastReluctantSeconds = 0.5;
/** Fewer different words, said reluctantly, are what a tone or a click can call forth. */
const babbleWords = 4;
/** Less sure of silence than this (61 %), the model did hear somebody. */
const doubtfulSilence = -0.5;
/** Above this mean log-probability a loop was really said: "no, no, no, no". */
const loopMean = -0.2;
const loopShare = 0.5;
/** Below this many tokens nobody can tell babble from mumble. */
const babbleTokens = 8;
const latinShare = 0.9;

/**
 * Judges whether the words of a hypothesis were said. What is in another script, or goes round in circles, was not; else the
 * score decides. Silence, noise and music give no words at all, or few and reluctant ones.
 */
export function judge(hypothesis: Hypothesis): Verdict {
  const { text, logProbabilities, silenceLogProbability, reluctant } = hypothesis;
  const letters = text.match(/\p{L}/gu) ?? [];
  const isEmpty = letters.length === 0 && !/\p{N}/u.test(text);
  const tokens = logProbabilities.length;
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter));
  const isForeign = latin.length < letters.length * latinShare;
  const loops = findRepetition(text).share >= loopShare && mean(logProbabilities) < loopMean;
  const score = scoreOf(hypothesis);
  if (reluctant) {
    const isEnough = !isEmpty && tokens >= leastReluctantTokens && hypothesis.seconds >= leastReluctantSeconds;
    if (isEnough && !isForeign && !loops && score >= leastScore) return 'words';
    if (isForeign || countDifferentWords(text) >= babbleWords) return 'babble';
    return silenceLogProbability < doubtfulSilence ? 'mumble' : 'nothing';
  }
  if (isEmpty) return 'nothing';
  if (isForeign || loops) return 'babble';
  if (score >= leastScore) return 'words';
  return tokens >= babbleTokens ? 'babble' : 'mumble';
}

/** True where a second listening, to the same audio cut a little differently, may turn the verdict. */
export function isDoubtful(hypothesis: Hypothesis): boolean {
  const score = scoreOf(hypothesis);
  const to = hypothesis.reluctant ? doubtful.toReluctant : doubtful.to;
  return hypothesis.text !== '' && score >= doubtful.from && score < to;
}

/**
 * How English the model found it, mostly -0.3 to 0.3. The mean log-probability of the tokens says most: about -0.1 in
 * English and -0.4 where that is hard to hear, about -1 in other languages and rarely above -0.5. Three more tell the two
 * apart where it lies between: a few tokens prove little; English leaves no doubt that it is no silence; and babble has
 * many tokens per second. The weights are a logistic regression over 767 hypotheses of English and 94 of other languages.
 * Listening twice gives the mean of both: English that is hard to hear gains by it, babble is another one and loses.
 */
export function scoreOf({ second, ...first }: Hypothesis): number {
  if (second === undefined) return scoreOnce(first);
  return (scoreOnce(first) + (second.text === '' ? unheardScore : scoreOnce(second))) / 2;
}

function scoreOnce({ logProbabilities, silenceLogProbability, seconds }: Hypothesis): number {
  const tokens = logProbabilities.length;
  const noSilence = Math.min(8, -silenceLogProbability);
  return mean(logProbabilities) + 1.2 / tokens + 0.05 * noSilence - (0.04 * tokens) / seconds;
}

/** How sure the model was of these words, 0 to 1: the geometric mean of the probabilities of their tokens. */
export function confidenceOf(hypotheses: readonly Hypothesis[]): number {
  return Math.exp(mean(hypotheses.flatMap((hypothesis) => hypothesis.logProbabilities)));
}

/**
 * The final of an utterance that was heard in pieces. Babble and mumble are left out; where more than half of what was
 * spoken is such, nothing is believed, and `unclear` tells why. `messages` has the text for each reason.
 */
export function concludeHearing(
  hypotheses: readonly Hypothesis[],
  messages: Readonly<Record<Unclear['code'], string>>,
): FinalTranscript {
  const judged = hypotheses
    .map((hypothesis) => ({ hypothesis, verdict: judge(hypothesis) }))
    .filter(({ verdict }) => verdict !== 'nothing');
  if (judged.length === 0) return { type: 'transcript-final', text: '' };
  const words = judged.filter(({ verdict }) => verdict === 'words').map(({ hypothesis }) => hypothesis);
  const confidence = confidenceOf(words.length === 0 ? judged.map(({ hypothesis }) => hypothesis) : words);
  const unheard = judged.filter(({ verdict }) => verdict !== 'words');
  if (secondsOf(unheard.map(({ hypothesis }) => hypothesis)) <= secondsOf(words)) {
    return { type: 'transcript-final', text: words.map(({ text }) => text).join(' '), language: 'en', confidence };
  }
  const code = unheard.some(({ verdict }) => verdict === 'babble') ? 'language_not_supported' : 'low_confidence';
  return { type: 'transcript-final', text: '', confidence, unclear: { code, message: messages[code] } };
}

function secondsOf(hypotheses: readonly Hypothesis[]): number {
  return hypotheses.reduce((sum, { seconds }) => sum + seconds, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function countDifferentWords(text: string): number {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}']+/gu)).size;
}
