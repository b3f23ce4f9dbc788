import { mean } from '../dsp/statistics.ts';
import type { TranscriptPart, Unclear } from '../recognizer.ts';

/** Result of an English model for a piece of audio, with its confidence. */
export interface Hypothesis {
  /** Empty if no words were decoded. */
  readonly text: string;
  /** Natural logarithm of the probability of each token, the end included. At least one. */
  readonly logProbabilities: readonly number[];
  /** Natural logarithm of the probability that the audio has no words. */
  readonly silenceLogProbability: number;
  /** True if the model preferred no words and was forced to decode some. */
  readonly forced: boolean;
  /** Length of the audio. */
  readonly seconds: number;
  /** Second decoding of the audio, made because the first was doubtful. */
  readonly second?: Hypothesis;
  /** Decoding of the same short audio with more silence around it, in which only a one-word command counts. */
  readonly padded?: Hypothesis;
}

/** `babble`: words that were not said, as from speech in another language. `mumble`: words too uncertain to act on. */
export type HypothesisVerdict = 'words' | 'nothing' | 'babble' | 'mumble';

export type FinalTranscript = Extract<TranscriptPart, { type: 'transcript-final' }>;

/** Minimum score of words to be believed, see `scoreOf`. */
const leastScore = -0.385;

/** Scores around `leastScore` for which a second decoding pays; `toReluctant` is the upper limit for forced words. */
const doubtful = { from: -0.7, to: -0.2, toReluctant: 0.2 };

/** Score of words if the second decoding found none at all. */
const unheardScore = -1;

/** Minimum number of tokens of forced words, the end included, and minimum length of their audio. */
const leastReluctantTokens = 3;

const leastReluctantSeconds = 0.5;

/** Fewer different words than this, if forced, may come from a tone or a click. */
const babbleWords = 4;

/** Below this log-probability of silence (61 %), the model did detect speech. */
const doubtfulSilence = -0.5;

/** Above this mean log-probability a loop was really said: "no, no, no, no". */
const loopMean = -0.2;

const loopShare = 0.5;

/** Below this many tokens invented words cannot be distinguished from unclear speech. */
const babbleTokens = 8;

const latinShare = 0.9;

/** One-word commands. Said alone they are so short that the model is unsure of them, or repeats them in a loop. */
const commands = new Set('stop wait no nope what sorry listen hey'.split(' '));

/** Longest audio, silence before and after included, that is judged as one command. */
const longestCommandSeconds = 1.6;

/** Least probability of the command as the first word; in the bench, misheard "mm-hm" and "er" are below. */
const leastCommand = 0.18;

/** Returns the one word of short audio in which the model heard nothing but a command; otherwise undefined. */
function commandIn({ text, logProbabilities, silenceLogProbability, forced, seconds }: Hypothesis): string | undefined {
  const [word, ...others] = text.match(/\p{L}+/gu) ?? [];
  if (word === undefined || seconds > longestCommandSeconds || !commands.has(word.toLowerCase())) return undefined;
  // A loop may end in the middle of the word.
  if (!others.every((other) => word.toLowerCase().startsWith(other.toLowerCase()))) return undefined;
  const isSpeech = forced ? 1 - Math.exp(silenceLogProbability) : 1;
  return isSpeech * Math.exp(logProbabilities[0] ?? -Infinity) >= leastCommand ? word : undefined;
}

/** Returns the hypothesis of a one-word command that the model misheard at first or repeated in a loop; others as they are. */
export function withCommand({ padded, ...first }: Hypothesis): Hypothesis {
  if (commandIn(first) !== undefined && judgeWords(first) === 'words') return first;
  const heard = [first, padded].find((one) => one !== undefined && commandIn(one) !== undefined);
  if (heard === undefined) return first;
  return { ...heard, text: `${commandIn(heard)}${heard.text.includes('?') ? '?' : '.'}` };
}

/**
 * Judges if the words were said: a single command was; words in another script or in a loop were not; otherwise the score
 * decides.
 */
export function judge(hypothesis: Hypothesis): HypothesisVerdict {
  return commandIn(hypothesis) === undefined ? judgeWords(hypothesis) : 'words';
}

function judgeWords(hypothesis: Hypothesis): HypothesisVerdict {
  const { text, logProbabilities, silenceLogProbability, forced: reluctant } = hypothesis;
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

/** Returns true if a second decoding of the same audio, cut a little differently, may change the verdict. */
export function isDoubtful(hypothesis: Hypothesis): boolean {
  const score = scoreOf(hypothesis);
  const to = hypothesis.forced ? doubtful.toReluctant : doubtful.to;
  return hypothesis.text !== '' && score >= doubtful.from && score < to;
}

/**
 * Scores how English the model found the audio, mostly -0.3 to 0.3. The mean log-probability of the tokens says most:
 * about -0.1 in English and -0.4 if that is hard to hear, about -1 in other languages and rarely above -0.5. Three more
 * terms separate the two in between: a few tokens prove little; for English the model is certain that there is no
 * silence; and babble has many tokens per second. The weights are a logistic regression over 767 hypotheses of English
 * and 94 of other languages. With a second decoding the score is the mean of both: English that is hard to hear gains
 * by it, babble comes out differently and loses.
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

/** Returns the model's confidence in these words, 0 to 1: the geometric mean of the probabilities of their tokens. */
export function confidenceOf(hypotheses: readonly Hypothesis[]): number {
  return Math.exp(mean(hypotheses.flatMap((hypothesis) => hypothesis.logProbabilities)));
}

/**
 * Concludes the final transcript of an utterance from the hypotheses of its pieces. Babble and mumble are dropped; if
 * they are more than half of the speech, the text is empty, and `unclear` has the reason. `messages` has the text for
 * each reason.
 */
export function finalTranscript(
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

function countDifferentWords(text: string): number {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}']+/gu)).size;
}

/** Longest loop to look for, in words. */
const mostWords = 12;

/** Loop of words repeated right after each other, as ASR models produce when they fail. */
export interface Repetition {
  /** Fraction of all words that belong to the loop, 0 to 1; 0 if nothing is repeated. */
  readonly share: number;
  /** Length of the repeated phrase, in words; 0 if there is none. */
  readonly words: number;
}

/**
 * Finds the loop that covers most of a text. People repeat themselves too, so a loop counts only from a minimum length:
 * a single word four times in a row; two to four words three times, or five to seven words twice, in each case less one
 * word; longer phrases one and a half times. Case and punctuation are ignored.
 */
export function findRepetition(text: string): Repetition {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  let longest: Repetition = { share: 0, words: 0 };
  for (let length = 1; length <= mostWords; length += 1) {
    const least = leastCovered(length);
    for (let start = 0; start + least <= words.length; start += 1) {
      const covered = coveredByLoop(words, start, length);
      const share = covered / words.length;
      if (covered >= least && share > longest.share) longest = { share, words: length };
    }
  }
  return longest;
}

function leastCovered(length: number): number {
  if (length === 1) return 4;
  if (length < 5) return 3 * length - 1;
  return length < 8 ? 2 * length - 1 : 1.5 * length;
}

/** Counts the words from `start` on that equal the word `length` before them, the first occurrence included. */
function coveredByLoop(words: readonly string[], start: number, length: number): number {
  let end = start + length;
  while (end < words.length && words[end] === words[end - length]) end += 1;
  return end - start;
}
