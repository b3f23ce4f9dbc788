import { durationMs } from '../../voices/audio.ts';
import type { CallOptions } from '../../voices/engine.ts';
import type { SpeechChunk, SpeechSynthesizer, TimedWord, Voice } from '../../voices/synthesizer.ts';
import { phrases } from '../../voices/text/phrases.ts';
import type { Aligner } from '../../voices/visemes/aligner.ts';
import { alignedBy, shapesBySound } from '../responders/lip-synced.ts';
import type { MouthSpan } from '../session/contract/events.ts';
import { mouthOf } from '../session/output/playout.ts';

/** A block of speech at the synthesizer's rate, with its words and its mouth; times in ms from the start of the text. */
export interface SpokenBlock {
  readonly samples: Float32Array;
  readonly words: readonly TimedWord[];
  readonly mouth: MouthSpan;
}

export interface SpeakTextOptions extends CallOptions {
  readonly voice: Voice;
  /** Factor on the tempo; 1 = the voice's own. */
  readonly speed?: number;
  /** Adds mouth shapes: those of the engine, else by alignment with the text, else from the audio. */
  readonly visemes?: { readonly aligner?: Aligner | undefined; readonly language?: string | undefined } | undefined;
  /** True: the sound waits for the shapes, because nobody listens yet. */
  readonly waits?: boolean;
}

/** Speaks a text as it is synthesized. Throws what the synthesizer throws; nothing to speak yields nothing. */
export async function* speakText(
  text: string,
  synthesizer: SpeechSynthesizer,
  options: SpeakTextOptions,
): AsyncGenerator<SpokenBlock> {
  async function* pieces(): AsyncIterable<{ text: string }> {
    for await (const piece of phrases(once(text))) yield { text: piece };
  }
  const { visemes, waits = false, ...how } = options;
  const withShapes = visemes === undefined ? (chunk: SpeechChunk) => chunk : shapesBySound();
  const speak = (said: AsyncIterable<{ text: string }>): AsyncIterable<SpeechChunk> => synthesizer.speak(said, how);
  const lipSync = visemes?.aligner && alignedBy(visemes.aligner, visemes.language, { waits });
  let atMs = 0;
  for await (const spoken of lipSync?.(pieces(), speak) ?? speak(pieces())) {
    const chunk = withShapes(spoken);
    const startMs = atMs;
    atMs += durationMs(chunk.frame);
    const words = (chunk.words ?? []).map((word) => ({
      text: word.text,
      startMs: word.startMs + startMs,
      endMs: word.endMs + startMs,
    }));
    yield { samples: chunk.frame.samples, words, mouth: mouthOf(chunk, startMs) };
  }
}

async function* once(text: string): AsyncIterable<string> {
  yield text;
}
