import type { CallOptions } from '../engine.ts';
import { phrases } from '../text/phrases.ts';
import type { Phrase, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';

interface SpeakOptions extends CallOptions {
  readonly voice: Voice;
  readonly speed?: number;
}

/** Cache of synthesized speech for lines that recur word for word: greetings, requests to repeat. */
export interface SpeechCache {
  /** Like the synthesizer's own `speak`, for a text that is known up front; cached speech comes without delay. */
  speak(line: AsyncIterable<Phrase>, options: SpeakOptions): AsyncIterable<SpeechChunk>;
  /** Synthesizes a line into the cache. Ignores failures: the line is synthesized again when it is spoken. */
  prepare(line: string, options: SpeakOptions): Promise<void>;
}

/** Capacity for all lines and voices together: 3 MB. */
const keptMs = 30_000;

/** Caches whole lines of a synthesizer, keyed by voice, speed and text; evicts the least recently spoken. */
export function openSpeechCache(synthesizer: SpeechSynthesizer): SpeechCache {
  const kept = new Map<string, readonly SpeechChunk[]>();
  const keep = (key: string, chunks: readonly SpeechChunk[]): void => {
    kept.delete(key);
    kept.set(key, chunks);
    for (const oldest of kept.keys()) {
      if (lengthMs([...kept.values()].flat()) <= keptMs) return;
      kept.delete(oldest);
    }
  };
  async function* speak(line: AsyncIterable<Phrase>, options: SpeakOptions): AsyncIterable<SpeechChunk> {
    const parts = await Array.fromAsync(line);
    options.signal.throwIfAborted();
    const key = JSON.stringify([options.voice, options.speed ?? 1, parts]);
    const ready = kept.get(key);
    if (ready !== undefined) {
      keep(key, ready);
      return yield* ready;
    }
    const chunks: SpeechChunk[] = [];
    for await (const chunk of synthesizer.speak(streamOf(parts), options)) {
      chunks.push(chunk);
      yield chunk;
    }
    keep(key, chunks);
  }
  return {
    speak,
    async prepare(line, options) {
      const parts = phrasesOf(line);
      try {
        for await (const _ of speak(parts, options)) if (options.signal.aborted) return;
      } catch {
        // The caller that plays the line gets the error.
      }
    },
  };
}

async function* phrasesOf(line: string): AsyncIterable<Phrase> {
  for await (const text of phrases(streamOf([line]))) yield { text };
}

async function* streamOf<Part>(parts: readonly Part[]): AsyncIterable<Part> {
  yield* parts;
}

function lengthMs(chunks: readonly SpeechChunk[]): number {
  return chunks.reduce((sum, { frame }) => sum + (frame.samples.length / frame.sampleRate) * 1000, 0);
}
