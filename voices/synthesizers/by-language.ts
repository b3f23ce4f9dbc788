import { durationMs } from '../audio.ts';
import { resample } from '../dsp/resampler.ts';
import { ReplayableStream } from '../runtime/streams.ts';
import { writingOf } from '../text/scripts.ts';
import type { Phrase, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';
import { espeakMissing } from './espeak.ts';

/** Two engines that share the work by language. */
export interface LanguagePair {
  /** Speaks phrases in Latin letters, unless another language is requested. */
  readonly english: SpeechSynthesizer;
  /** Speaks the rest; absent if it is not installed. */
  readonly other?: SpeechSynthesizer | undefined;
  /** Voice for the other engine; the call's voice is one of the first engine's. */
  readonly otherVoice: Voice;
  /** Rate of every chunk, in hertz; default: the first engine's own. */
  readonly sampleRate?: number;
}

/**
 * Each phrase goes to the engine that can read its script; `language` may request another language in Latin letters,
 * such as French. Without the other engine, phrases that are not mostly Latin throw `ENGINE_MISSING`.
 */
export function byLanguage(pair: LanguagePair): SpeechSynthesizer {
  const { english, other, otherVoice } = pair;
  const { sampleRate = english.sampleRate } = pair;
  return {
    name: other === undefined ? english.name : `${english.name}+${other.name}`,
    sampleRate,
    languages: [...new Set([...english.languages, ...(other?.languages ?? [])])],
    isRepeatable: (phrase, options) =>
      fits(phrase, ({ text }) => {
        const engine = choose(text, pair, options.language);
        const voice = engine === english ? options.voice : otherVoice;
        return engine.isRepeatable?.(phrase, { ...options, voice }) === true;
      }),
    async *speak(phrases, options) {
      const source = new ReplayableStream(phrases);
      const engineFor = (phrase: Phrase): SpeechSynthesizer => choose(phrase.text, pair, options.language);
      let taken = 0;
      /** Phrases up to the first that does not belong, or for which `belongs` throws (the error appears when its engine is chosen). */
      async function* run(belongs: (phrase: Phrase) => boolean): AsyncGenerator<Phrase> {
        for (
          let next = await source.at(taken);
          next !== undefined && fits(next, belongs);
          next = await source.at(taken)
        ) {
          taken += 1;
          source.forget(taken);
          yield next;
        }
      }
      let atMs = 0;
      try {
        for (let next = await source.at(taken); next !== undefined; next = await source.at(taken)) {
          const engine = engineFor(next);
          const voice = engine === english ? options.voice : otherVoice;
          for await (const chunk of engine.speak(
            run((phrase) => engineFor(phrase) === engine),
            { ...options, voice },
          )) {
            const placed = placeAt(chunk, atMs, sampleRate);
            atMs += durationMs(placed.frame);
            yield placed;
          }
        }
      } finally {
        source.close();
      }
    },
  };
}

function choose(text: string, { english, other }: LanguagePair, language: string | undefined): SpeechSynthesizer {
  const { script, latinShare } = writingOf(text);
  const primary = language?.toLowerCase().split('-')[0];
  if (other === undefined) {
    if (latinShare < 0.5) throw espeakMissing();
    return english;
  }
  if (script !== undefined && script !== 'latin') return other;
  const foreign =
    primary !== undefined && !english.languages.includes(primary) && latinLanguages(other).includes(primary);
  return foreign ? other : english;
}

/** Returns the engine's languages that are written in Latin letters. */
function latinLanguages(engine: SpeechSynthesizer): readonly string[] {
  return engine.languages.filter((tag) => new Intl.Locale(tag).maximize().script === 'Latn');
}

function placeAt(chunk: SpeechChunk, atMs: number, sampleRate: number): SpeechChunk {
  const samples = resample(chunk.frame.samples, chunk.frame.sampleRate, sampleRate);
  return { ...chunk, frame: { ...chunk.frame, samples, sampleRate, atMs } };
}

function fits(phrase: Phrase, belongs: (phrase: Phrase) => boolean): boolean {
  try {
    return belongs(phrase);
  } catch {
    return false;
  }
}
