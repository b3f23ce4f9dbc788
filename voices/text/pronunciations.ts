import type { Phrase, SpeechChunk, SpeechSynthesizer } from '../synthesizer.ts';

/** How somebody speaks, whatever voice they have. */
export interface Manner {
  /** A factor: below 1 slower, above 1 faster than the voice is by itself. */
  readonly pace: number;
  /** Words as they are written, each with a spelling that makes the voice say it right. */
  readonly pronunciations: Readonly<Record<string, string>>;
}

/**
 * The synthesizer in somebody's manner: at their pace, and with words respelled for the voice. What it tells it has said are the
 * words as they are written: listeners read those.
 */
export function inManner(synthesizer: SpeechSynthesizer, { pace, pronunciations }: Manner): SpeechSynthesizer {
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

/** Replaces whole words, whatever their case; words of a script without spaces wherever they stand. */
function replacer(pairs: readonly (readonly [from: string, to: string])[]): (text: string) => string {
  if (pairs.length === 0) return (text) => text;
  const places = new Map(pairs.map(([from, to]) => [from.toLowerCase(), to]));
  // Longer ones first, or "Mont" would take a piece of "Montague".
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
