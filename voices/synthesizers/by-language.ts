import { durationMs } from '../audio.ts';
import { resample } from '../dsp/resampler.ts';
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
 * Makes one synthesizer from two: each phrase goes to the engine that can read its script. `language` may request
 * another language in Latin letters, such as French. If the other engine is absent, a phrase that is mostly Latin is
 * spoken by the first as well as it can, and any other throws `ENGINE_MISSING`.
 */
export function byLanguage(pair: LanguagePair): SpeechSynthesizer {
  const { english, other, otherVoice } = pair;
  const { sampleRate = english.sampleRate } = pair;
  return {
    name: other === undefined ? english.name : `${english.name}+${other.name}`,
    sampleRate,
    languages: [...new Set([...english.languages, ...(other?.languages ?? [])])],
    async *speak(phrases, options) {
      const cursor = new Cursor(phrases);
      const engineFor = (phrase: Phrase): SpeechSynthesizer => choose(phrase.text, pair, options.language);
      let atMs = 0;
      try {
        for (let next = await cursor.peek(); next !== undefined; next = await cursor.peek()) {
          const engine = engineFor(next);
          const run = cursor.takeWhile((phrase) => engineFor(phrase) === engine);
          const voice = engine === english ? options.voice : otherVoice;
          for await (const chunk of engine.speak(run, { ...options, voice })) {
            const placed = placeAt(chunk, atMs, sampleRate);
            atMs += durationMs(placed.frame);
            yield placed;
          }
        }
      } finally {
        cursor.close();
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

/** Phrase reader with look-ahead, so that a run of phrases can end without losing the next one. */
class Cursor {
  readonly #iterator: AsyncIterator<Phrase>;
  #next: Promise<IteratorResult<Phrase>> | undefined;

  constructor(phrases: AsyncIterable<Phrase>) {
    this.#iterator = phrases[Symbol.asyncIterator]();
  }

  /** Returns the next phrase, undefined at the end; rejects if the source fails. */
  async peek(): Promise<Phrase | undefined> {
    this.#next ??= this.#iterator.next();
    const next = await this.#next;
    return next.done === true ? undefined : next.value;
  }

  /**
   * Takes phrases up to the first that does not belong. A phrase for which `belongs` throws ends the run too; the error
   * surfaces when an engine is chosen for it.
   */
  async *takeWhile(belongs: (phrase: Phrase) => boolean): AsyncGenerator<Phrase> {
    for (let next = await this.peek(); next !== undefined; next = await this.peek()) {
      if (!fits(next, belongs)) return;
      this.#next = undefined;
      yield next;
    }
  }

  close(): void {
    // Not awaited: a source blocked on its own input would not answer before that arrives.
    void this.#iterator.return?.().catch(() => undefined);
  }
}

function fits(phrase: Phrase, belongs: (phrase: Phrase) => boolean): boolean {
  try {
    return belongs(phrase);
  } catch {
    return false;
  }
}
