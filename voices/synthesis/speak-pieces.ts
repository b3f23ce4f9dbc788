import { durationMs } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { splitText } from '../text/phrases.ts';
import type { Phrase, SpeechChunk } from '../synthesizer.ts';
import type { RenderedSpeech } from './finish-speech.ts';

/** Engine that renders one text at a time. */
export interface PieceRenderer {
  /** Rate of the rendered audio, in hertz. */
  readonly sampleRate: number;
  /** Maximum length of a text in UTF-16 units; longer phrases are split. */
  readonly maxCharacters: number;
  /** Returns true if the engine can speak this text. */
  isSpeakable(text: string): boolean;
  render(text: string): Promise<RenderedSpeech>;
}

/**
 * Speaks phrases, one chunk per piece, rendering one piece ahead of the reader. Skips phrases with nothing to say; the
 * chunks of any other phrase, joined, give its text. Aborting throws `signal.reason`, also between phrases.
 */
export async function* speakPieces(
  phrases: AsyncIterable<Phrase>,
  renderer: PieceRenderer,
  options: CallOptions,
): AsyncGenerator<SpeechChunk> {
  const { sampleRate, maxCharacters } = renderer;
  async function* texts(): AsyncGenerator<string> {
    for await (const phrase of phrases)
      yield* splitText(phrase.text, maxCharacters, (piece) => renderer.isSpeakable(piece));
  }
  const rendered = lookAhead(texts(), async (text) => ({ text, ...(await renderer.render(text)) }), options);
  let atMs = 0;
  for await (const { text, samples, words, mouth } of rendered) {
    const frame = { samples, sampleRate, atMs };
    atMs += durationMs(frame);
    yield { frame, text, ...(words.length > 0 && { words }), ...(mouth && { mouth }) };
  }
}

/** Maps a stream, one item ahead of the reader. Aborting throws `signal.reason`; failures wait their turn. */
async function* lookAhead<Item, Result>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<Result>,
  { signal }: CallOptions,
): AsyncGenerator<Result> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.promise.catch(() => undefined);
  const iterator = items[Symbol.asyncIterator]();
  const makeNext = async (): Promise<{ readonly result: Result } | undefined> => {
    const next = await iterator.next();
    return next.done === true ? undefined : { result: await work(next.value) };
  };
  const advance = (): ReturnType<typeof makeNext> => {
    const pending = makeNext();
    // It may reject before its turn, or after the reader has left.
    pending.catch(() => undefined);
    return pending;
  };
  try {
    let pending = advance();
    for (;;) {
      const current = await Promise.race([pending, aborted.promise]);
      if (current === undefined) return;
      pending = advance();
      yield current.result;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source that is waiting for its own input would not settle before that input comes.
    void iterator.return?.().catch(() => undefined);
  }
}
