import type { CallOptions } from '../engine.ts';
import { phrases } from '../text/phrases.ts';
import type { Phrase, SpeechChunk, SpeechSynthesizer, Voice } from '../synthesizer.ts';

interface SpeakOptions extends CallOptions {
  readonly voice: Voice;
  readonly speed?: number;
}

/** Lines that are said again and again, in the same words: greetings, requests to repeat. */
export interface SaidLines {
  /** As the synthesizer's own `speak`, for a text that is known at once; what was said before comes without delay. */
  speak(line: AsyncIterable<Phrase>, options: SpeakOptions): AsyncIterable<SpeechChunk>;
  /** Has a line ready. A failure is passed over: it will be tried again when the line is said. */
  prepare(line: string, options: SpeakOptions): Promise<void>;
}

/** Speech kept, of all lines and voices: 3 MB. */
const keptMs = 30_000;

/** Keeps what a synthesizer has said, whole, by voice, speed and words; the line that was said longest ago goes first. */
export function saidLines(synthesizer: SpeechSynthesizer): SaidLines {
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
        // The one who wants to hear it will be told.
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
