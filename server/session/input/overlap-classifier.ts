import type { TranscriptPart } from '../../../voices/recognizer.ts';
import { isBackchannel, wordsOf } from '../history/backchannels.ts';
import { isEcho } from './echo/echo.ts';
import type { Overlap } from '../turns/turn.ts';
import type { Utterance } from './utterance.ts';

/** In a shorter sound, one or two words that the recognizer is not sure of may be a nod that it misheard. */
const shortMs = 470;
/** Whoever speaks so long means somebody, even if not one word can be made out. */
const longMs = 500;
/** Silence after which a transcript is one of all that was said. */
const wholeAfterMs = 64;
/** Of the nods that Moonshine misheard in `npm run bench -- turns`, one in ten was above. */
const sureFrom = 0.85;
/** More words than that are meant for somebody. */
const fewWords = 2;

/** Words that take the floor, however short: of refusal, of stopping, of asking. Chinese and Japanese are looked for anywhere. */
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

/** A sound over the reply, as far as it has been understood. */
interface Overheard {
  readonly text: string;
  /** 0 to 1; absent where the recognizer cannot tell. */
  readonly confidence?: number | undefined;
  /** Somebody spoke, whatever they said. */
  readonly isVoice: boolean;
  /** From its first to its last voiced window. */
  readonly lastedMs: number;
  /** The text is of all that was said, and nothing was added for a moment. */
  readonly isWhole: boolean;
}

/** What a sound over the reply is, by this part of its transcript, when sound has been heard up to `heardMs`. */
export function judgeOverheard(utterance: Utterance, part: TranscriptPart, heardMs: number): Overlap | undefined {
  if (isOwnVoice(utterance, part.text)) return 'aside';
  const { fromMs, toMs } = utterance.voiced ?? { fromMs: 0, toMs: 0 };
  const isFinal = part.type === 'transcript-final';
  return judge({
    text: part.text,
    confidence: part.confidence,
    isVoice: !isFinal || part.unclear !== undefined,
    lastedMs: toMs - fromMs,
    isWhole: isFinal || heardMs - toMs >= wholeAfterMs,
  });
}

/** What it is; undefined while that is not sure. */
export function judge({ text, confidence = 1, isVoice, lastedMs, isWhole }: Overheard): Overlap | undefined {
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

/** Recognizers mishear short words by a letter: "step" for "stop". */
function isCommand(word: string): boolean {
  if (commands.has(word)) return true;
  return word.length >= 4 && [...commands].some((command) => command.length >= 4 && differInOne(word, command));
}

/** Whether two words of the same length, with the same first letter, differ in one letter. */
function differInOne(left: string, right: string): boolean {
  if (left.length !== right.length || left[0] !== right[0]) return false;
  return left.split('').filter((letter, index) => letter !== right[index]).length === 1;
}

/** Characters of a script without spaces count as half a word. */
function countWords(words: readonly string[]): number {
  const characters = words.join(' ').match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  return (
    words.filter((word) => /[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)).length +
    Math.ceil(characters / 2)
  );
}

/** Whether it is the character's own words, come back through the user's microphone. */
export function isOwnVoice(utterance: Utterance, text: string): boolean {
  // "What?" may be in both by chance.
  const isCommandAlone = isCommand(wordsOf(text).join(' '));
  const { over, hasOwnVoice } = utterance;
  utterance.isOwnVoice = over !== undefined && (hasOwnVoice || (!isCommandAlone && isEcho(text, over())));
  return utterance.isOwnVoice;
}

/** Whether it is a nod to the last words of a reply, which asked for nothing. */
export function isNod(utterance: Utterance, text: string): boolean {
  if (utterance.interrupts) return false;
  const said = utterance.over?.().words.at(-1)?.text.trim() ?? '?';
  return !/[?？]["'”’]?$/u.test(said) && isBackchannel(text);
}
