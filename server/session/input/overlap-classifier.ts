import type { TranscriptPart } from '../../../voices/recognizer.ts';
import { isBackchannel, wordsOf } from '../history/backchannels.ts';
import type { Sounded } from '../contract/item.ts';
import type { OverlapKind, Utterance } from './utterance.ts';

/** In a shorter sound, one or two words with low confidence may be a misrecognized backchannel. */
const shortMs = 470;

/** Voice this long over a reply is a barge-in even without a transcript. */
const longMs = 500;

/** Silence after which a partial transcript covers all that was said. */
const wholeAfterMs = 64;

/**
 * ASR confidence from which words count. Of the backchannels that Moonshine misrecognized in `npm run bench -- turns`,
 * one in ten was above.
 */
const sureFrom = 0.85;

/** More words than this are addressed to the character. */
const fewWords = 2;

/**
 * Words that interrupt, however short: of refusal, of stopping, of asking. Chinese and Japanese ones match anywhere in
 * the text.
 */
const commands = new Set(
  [
    'stop wait no nope but dont hold hang listen sorry excuse pardon what why who where when how hey hello enough quiet silence shush',
    'halt stopp warte nein aber mais pero nicht moment was warum wieso wer wo attends arrête arrete non quoi pourquoi pardon',
    'para espera no qué que por cómo perdón disculpa ストップ 잠깐 잠깐만 그만 아니 왜 뭐',
  ]
    .join(' ')
    .split(' '),
);

const spaceless =
  /停|等|但是|可是|不|别|別|慢着|慢点|打住|够了|夠了|为什么|為什麼|怎么|怎麼|什么|什麼|谁|誰|请问|請問|喂|待って|まって|ちょっと|いや|なぜ|何/u;

/** A sound over the reply, as far as it has been transcribed. */
interface Overheard {
  readonly text: string;
  /** 0 to 1; absent if the recognizer gives none. */
  readonly confidence?: number | undefined;
  /** True if it is a voice, whatever the words. */
  readonly isVoice: boolean;
  /** From its first to its last voiced window. */
  readonly lastedMs: number;
  /** True if the text covers all that was said, and no voice followed for a moment. */
  readonly isWhole: boolean;
}

/** Classifies a sound over the reply by this part of its transcript, with audio processed up to `heardMs`. */
export function judgeOverheard(utterance: Utterance, part: TranscriptPart, heardMs: number): OverlapKind | undefined {
  if (isOwnVoice(utterance, part.text)) return 'aside';
  const { fromMs, toMs } = utterance.voiced ?? { fromMs: 0, toMs: 0 };
  const isFinal = part.type === 'transcript-final';
  return classifyOverlap({
    text: part.text,
    confidence: part.confidence,
    isVoice: !isFinal || part.unclear !== undefined,
    lastedMs: toMs - fromMs,
    isWhole: isFinal || heardMs - toMs >= wholeAfterMs,
  });
}

/** Classifies the overlap; undefined while that is not certain. */
export function classifyOverlap({
  text,
  confidence = 1,
  isVoice,
  lastedMs,
  isWhole,
}: Overheard): OverlapKind | undefined {
  if (text.trim() === '') {
    if (!isWhole) return undefined;
    return isVoice && lastedMs >= longMs ? 'words' : 'unclear';
  }
  if (isBackchannel(text)) return 'aside';
  const words = wordsOf(text);
  if (words.some(isCommand) || spaceless.test(text) || countWords(words) > fewWords) return 'words';
  // The first words of a longer sound may be the beginning of "of course".
  if (!isWhole) return confidence === 1 ? 'words' : undefined;
  return lastedMs < shortMs && confidence < sureFrom ? 'unclear' : 'words';
}

/** Matches commands with one letter misrecognized, too: "step" for "stop". */
function isCommand(word: string): boolean {
  if (commands.has(word)) return true;
  return word.length >= 4 && [...commands].some((command) => command.length >= 4 && differInOne(word, command));
}

/** Returns true if two words of the same length, with the same first letter, differ in one letter. */
function differInOne(left: string, right: string): boolean {
  if (left.length !== right.length || left[0] !== right[0]) return false;
  return left.split('').filter((letter, index) => letter !== right[index]).length === 1;
}

/** Counts words; characters of a script without spaces count as half a word. */
function countWords(words: readonly string[]): number {
  const characters = words.join(' ').match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  return (
    words.filter((word) => /[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)).length +
    Math.ceil(characters / 2)
  );
}

/** Returns true if the words are the character's own, picked up by the user's microphone. */
export function isOwnVoice(utterance: Utterance, text: string): boolean {
  // "What?" may be in both by chance.
  const isCommandAlone = isCommand(wordsOf(text).join(' '));
  const { over, hasOwnVoice } = utterance;
  utterance.isOwnVoice = over !== undefined && (hasOwnVoice || (!isCommandAlone && isEcho(text, over())));
  return utterance.isOwnVoice;
}

/** Returns true if it is a backchannel to the last words of a reply that asked no question. */
export function isBackchannelReply(utterance: Utterance, text: string): boolean {
  if (utterance.interrupts) return false;
  const said = utterance.over?.().words.at(-1)?.text.trim() ?? '?';
  return !/[?？]["'”’]?$/u.test(said) && isBackchannel(text);
}

/** How long before its echo a word may have played: network, loudspeaker, microphone, and the word's own length. */
const agoMs = 1_500;

/** Tolerance for our clock being behind the client's. */
const aheadMs = 600;

/** Share of the recognized words that must occur, in the same order, among the words of the reply. */
const leastShare = 0.6;

/**
 * Returns true if the transcript is the character's own speech at that time: most of the words, in order. A user who
 * repeats the character's words at once is taken for its echo; that is the price of needing no echo cancellation.
 */
function isEcho(text: string, { words, fromMs, toMs }: Sounded): boolean {
  const heard = unitsOf(text);
  const spoken = words
    .filter((word) => word.startMs >= fromMs - agoMs && word.startMs <= toMs + aheadMs)
    .flatMap((word) => unitsOf(word.text));
  if (heard.length === 0 || spoken.length === 0) return false;
  return commonInOrder(heard, spoken) >= leastShare * heard.length;
}

/** Splits into words, and into characters for scripts without spaces. */
function unitsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) =>
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u.test(word) ? (word.match(/./gsu) ?? []) : [word],
  );
}

/** Returns the length of the longest common subsequence. */
function commonInOrder(left: readonly string[], right: readonly string[]): number {
  let above = Array.from({ length: right.length + 1 }, () => 0);
  for (const unit of left) {
    const row = [0];
    for (let column = 0; column < right.length; column += 1) {
      row.push(unit === right[column] ? (above[column] ?? 0) + 1 : Math.max(above[column + 1] ?? 0, row[column] ?? 0));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}
