import type { Phrase, SpeechChunk, SpeechSynthesizer } from '../synthesizer.ts';

/** Speaking style, independent of the voice. */
export interface SpeakingStyle {
  /** Speed factor: below 1 slower, above 1 faster than the voice's own speed. */
  readonly pace: number;
  /** Words as written, each with a spelling that makes the voice pronounce it correctly. */
  readonly pronunciations: Readonly<Record<string, string>>;
}

/** Speaks at a pace, with words respelled for the voice; chunks keep the original spelling, which listeners read. */
export function withSpeakingStyle(
  synthesizer: SpeechSynthesizer,
  { pace, pronunciations }: SpeakingStyle,
): SpeechSynthesizer {
  const pairs = Object.entries(pronunciations).filter(([word, spelling]) => word !== spelling);
  if (pace === 1 && pairs.length === 0) return synthesizer;
  const respelled = replacer(pairs);
  const written = replacer(pairs.map(([word, spelling]) => [spelling, word]));
  const { name, sampleRate, languages } = synthesizer;
  return {
    name,
    sampleRate,
    languages,
    async *speak(phrases, options) {
      const speed = (options.speed ?? 1) * pace;
      for await (const chunk of synthesizer.speak(respell(phrases, respelled), { ...options, speed })) {
        yield { ...chunk, text: written(chunk.text), ...wordsOf(chunk, written) };
      }
    },
  };
}

async function* respell(phrases: AsyncIterable<Phrase>, change: (text: string) => string): AsyncIterable<Phrase> {
  for await (const phrase of phrases) yield { ...phrase, text: change(phrase.text) };
}

function wordsOf({ words }: SpeechChunk, change: (text: string) => string): Pick<SpeechChunk, 'words'> {
  return words === undefined ? {} : { words: words.map((word) => ({ ...word, text: change(word.text) })) };
}

/** Replaces whole words, case-insensitively; in scripts without spaces, replaces them anywhere. */
function replacer(pairs: readonly (readonly [from: string, to: string])[]): (text: string) => string {
  if (pairs.length === 0) return (text) => text;
  const places = new Map(pairs.map(([from, to]) => [from.toLowerCase(), to]));
  // Longer words first, otherwise "Mont" would match part of "Montague".
  const words = [...places.keys()]
    .toSorted((left, right) => right.length - left.length)
    .map((from) => {
      const bounded = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(from)
        ? ''
        : String.raw`(?![\p{L}\p{N}])`;
      return `${bounded === '' ? '' : String.raw`(?<![\p{L}\p{N}])`}${RegExp.escape(from)}${bounded}`;
    });
  const pattern = new RegExp(words.join('|'), 'giu');
  return (text) => text.replaceAll(pattern, (found) => places.get(found.toLowerCase()) ?? found);
}
