import { durationMs } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { lookAhead } from './look-ahead.ts';
import { pieces } from '../text/pieces.ts';
import type { Phrase, SpeechChunk } from '../synthesizer.ts';
import type { RenderedSpeech } from './finish-speech.ts';

/** Engine that renders one text at a time. */
export interface PieceRenderer {
  /** Rate of the rendered audio, in hertz. */
  readonly sampleRate: number;
  /** Maximum length of a text in UTF-16 units; longer phrases are split. */
  readonly maxCharacters: number;
  /** Returns true if the engine can speak this text. */
  sayable(text: string): boolean;
  render(text: string): Promise<RenderedSpeech>;
}

/**
 * Speaks phrases, one chunk per piece, rendering one piece ahead of the reader. Phrases without anything to say are
 * skipped; the chunks of any other phrase, joined, give its text. Aborting throws `signal.reason`, also between
 * phrases.
 */
export async function* speakPieces(
  phrases: AsyncIterable<Phrase>,
  renderer: PieceRenderer,
  options: CallOptions,
): AsyncGenerator<SpeechChunk> {
  const { sampleRate, maxCharacters } = renderer;
  async function* texts(): AsyncGenerator<string> {
    for await (const phrase of phrases) yield* pieces(phrase.text, maxCharacters, (piece) => renderer.sayable(piece));
  }
  const rendered = lookAhead(texts(), async (text) => ({ text, ...(await renderer.render(text)) }), options);
  let atMs = 0;
  for await (const { text, samples, words } of rendered) {
    const frame = { samples, sampleRate, atMs };
    atMs += durationMs(frame);
    yield { frame, text, ...(words.length > 0 && { words }) };
  }
}
