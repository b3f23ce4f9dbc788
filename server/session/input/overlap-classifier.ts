import type { TranscriptPart } from '../../../voices/recognizer.ts';
import type { Cast } from '../contract/responder.ts';
import type { SessionSettings } from '../contract/settings.ts';
import type { Sounded } from '../contract/item.ts';
import type { OverlapKind, Utterance } from './utterance.ts';

/** In a shorter sound, one or two words with low confidence may be a misrecognized backchannel. */
const shortMs = 470;

/** Voice this long over a reply is a barge-in even without a transcript. */
const longMs = 500;

/** Silence after which a partial transcript covers all that was said. */
const wholeAfterMs = 64;

/** ASR confidence from which words count; of misrecognized backchannels (`bench -- turns`), one in ten is above. */
const sureFrom = 0.85;

/** Commands that begin a sentence. Alone and unsure, they are how recognizers spell "er" and "um". */
const beginnings = new Set(['but', 'dont']);

/** More words than this are addressed to the character. */
const fewWords = 2;

/**
 * Words that interrupt, however short: of refusal, stopping, asking. By language, because "was" is a question in German
 * and not in English; users of other languages know the English ones.
 */
const commandsByLanguage: Readonly<Record<string, ReadonlySet<string>>> = {
  en: wordSet(
    'stop wait no nope but dont hold hang listen sorry excuse pardon what why who where when how hey hello enough quiet silence shush',
  ),
  de: wordSet('stop halt stopp warte nein aber nicht moment was warum wieso wer wo pardon hey hallo'),
  fr: wordSet('stop mais attends arrête arrete non quoi pourquoi pardon'),
  es: wordSet('stop pero para espera no qué que por cómo perdón disculpa'),
  ja: wordSet('ストップ'),
  ko: wordSet('잠깐 잠깐만 그만 아니 왜 뭐'),
};

/** Chinese and Japanese commands match anywhere, in a conversation in any language: no other language writes them. */
const spaceless =
  /停|等|但是|可是|不|别|別|慢着|慢点|打住|够了|夠了|为什么|為什麼|怎么|怎麼|什么|什麼|谁|誰|请问|請問|喂|待って|まって|ちょっと|いや|なぜ|何/u;

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** A sound over the reply, as far as it has been transcribed. */
interface OverlapTranscript {
  readonly text: string;
  /** Languages (BCP 47) that the user may be speaking. */
  readonly languages: readonly string[];
  /** 0 to 1; absent if the recognizer gives none. */
  readonly confidence?: number | undefined;
  /** True if it is a voice, for any words. */
  readonly isVoice: boolean;
  /** From its first to its last voiced window. */
  readonly lastedMs: number;
  /** True if the text covers all that was said, and no voice followed for a moment. */
  readonly isWhole: boolean;
}

/** Classifies a sound over the reply by this part of its transcript, with audio processed up to `heardMs`. */
export function overlapKindOf(
  utterance: Utterance,
  part: TranscriptPart,
  { heardMs, languages }: { readonly heardMs: number; readonly languages: readonly string[] },
): OverlapKind | undefined {
  if (isOwnVoice(utterance, part.text, languages)) return 'aside';
  const { fromMs, toMs } = utterance.voiced ?? { fromMs: 0, toMs: 0 };
  const isFinal = part.type === 'transcript-final';
  return classifyOverlap({
    text: part.text,
    languages,
    confidence: part.confidence,
    isVoice: !isFinal || part.unclear !== undefined,
    lastedMs: toMs - fromMs,
    isWhole: isFinal || heardMs - toMs >= wholeAfterMs,
  });
}

/** Languages that the user may be speaking: the one recognized or named by the client, otherwise the character's. */
export function languagesOf(
  part: TranscriptPart,
  {
    settings,
    participants,
  }: { readonly settings: () => SessionSettings; readonly participants: { readonly cast: Cast } },
): readonly string[] {
  const language = (part.type === 'transcript-final' ? part.language : undefined) ?? settings().language;
  return language === undefined ? (participants.cast.languages ?? ['en']) : [language];
}

/** Classifies the overlap; undefined while that is not certain. */
export function classifyOverlap({
  text,
  languages,
  confidence = 1,
  isVoice,
  lastedMs,
  isWhole,
}: OverlapTranscript): OverlapKind | undefined {
  if (text.trim() === '') {
    if (!isWhole) return undefined;
    return isVoice && lastedMs >= longMs ? 'words' : 'unclear';
  }
  if (isBackchannel(text)) return 'aside';
  const words = wordsOf(text);
  const isHesitation = words.length === 1 && beginnings.has(words[0] ?? '') && lastedMs < shortMs;
  if (isHesitation && confidence < sureFrom) return isWhole ? 'unclear' : undefined;
  if (words.some((word) => isCommand(word, languages)) || spaceless.test(text) || countWords(words) > fewWords)
    return 'words';
  // The first words of a longer sound may be the beginning of "of course".
  if (!isWhole) return confidence === 1 ? 'words' : undefined;
  return lastedMs < shortMs && confidence < sureFrom ? 'unclear' : 'words';
}

/** Matches commands with one letter misrecognized, too: "step" for "stop". */
function isCommand(word: string, languages: readonly string[]): boolean {
  return languages.some((language) => {
    const commands = commandsByLanguage[language.split('-')[0] ?? ''] ?? commandsByLanguage['en'];
    if (commands === undefined) return false;
    if (commands.has(word)) return true;
    return word.length >= 4 && [...commands].some((command) => command.length >= 4 && differInOne(word, command));
  });
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
export function isOwnVoice(utterance: Utterance, text: string, languages: readonly string[]): boolean {
  // "What?" may be in both by chance.
  const isCommandAlone = isCommand(wordsOf(text).join(' '), languages);
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

/**
 * Backchannels: continuers and assessments (Yngve 1970; Clancy et al. 1996 for Chinese), and how recognizers spell
 * coughs and laughs. "No", "wait", "stop" and "sorry" are not among them.
 */
const words = new Set(
  [
    'ah aha ahem alright awesome cool er fine gosh great ha haha heh hm hmm hmmm huh indeed interesting mhm mm mmhm mmhmm mmm nice oh ok okay',
    'ooh perfect really right sure uh uhhuh uhuh um umm wow yeah yep yes yup true exactly absolutely totally wonderful good lovely',
    'genau ja stimmt klar achso aja ach so d’accord daccord oui ouais voilà voila sí si claro vale ajá はい ええ うん うんうん そう なるほど へえ 네 응 음',
  ]
    .join(' ')
    .split(' '),
);

/** Backchannels of several words. */
const phrases = new Set(
  'uh huh|mm hm|mm hmm|mhm mhm|i see|i c|i know|got it|of course|oh my|go on|makes sense|fair enough|that is right|thats right|you know|ah so|is that so|no way|for sure|all right|of course'.split(
    '|',
  ),
);

/** Chinese is written without spaces, so its continuers are matched as a run. */
const chinese =
  /^(?:嗯|恩|哦|噢|喔|啊|呵|哈|唉|哎|诶|欸|呃|额|对|對|是|好|行|的|呀|吧|了|啦|没错|沒錯|当然|當然|真的吗?|这样|原来如此|明白|知道)+$/u;

/** Most words in a backchannel: "yeah yeah okay right". */
const mostWords = 4;

/** Returns true if the text is only a backchannel, such as "mm-hm". Empty text is not. */
export function isBackchannel(text: string): boolean {
  const spoken = wordsOf(text);
  if (spoken.length === 0 || spoken.length > mostWords) return false;
  if (chinese.test(spoken.join(''))) return true;
  for (let index = 0; index < spoken.length; index += 1) {
    if (words.has(spoken[index] ?? '')) continue;
    if (!phrases.has(spoken.slice(index, index + 2).join(' '))) return false;
    index += 1;
  }
  return true;
}

/** Splits a text into words, in lower case and without punctuation; "mm-hm" is two. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .normalize('NFKC')
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
