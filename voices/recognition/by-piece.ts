import type { EngineContext } from '../calls/context.ts';
import type { Meter } from '../calls/calls.ts';
import type { CallOptions } from '../engine.ts';
import type { SpeechRecognizer } from '../recognizer.ts';
import { untilAborted } from '../runtime/streams.ts';
import { checkRate } from '../audio.ts';
import { readGrowingText, readModelText } from './model-text.ts';
import { DecodeAhead, joinTexts, type DecodedText, type Urgency } from './decode-ahead.ts';

/** Transcript of one piece of audio. */
export interface PieceTranscript extends DecodedText {
  /** BCP 47 tag, if the server reports one. */
  readonly language?: string | undefined;
  /** From 0 to 1, if the server reports it. */
  readonly confidence?: number | undefined;
}

export interface DecodeOptions extends CallOptions {
  readonly language?: string | undefined;
  readonly meter: Meter;
  /** Takes the text known so far; calling it is optional. */
  readonly onText: (text: string) => void;
}

/** Engine that transcribes one piece of audio per request; its texts may hold the model's tags. */
export interface PieceDecoder {
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** Sends one request. `samples` are mono at 16 kHz, 28 s at most. */
  decode(samples: Float32Array<ArrayBuffer>, options: DecodeOptions): Promise<PieceTranscript>;
  /** True to request partials during speech too, about twice a second: costs requests, and shows words early. */
  readonly partials: boolean;
  /** Silence after which a request is sent, because the utterance may be over; milliseconds. */
  readonly pauseMs: number;
}

const sampleRate = 16_000;

/**
 * Makes a recognizer from an engine that takes one piece per request. It sends a request in every pause that may end
 * the utterance, so that the final is ready when the end is certain, and drops the request if the speech continues. A
 * failed partial is ignored, because the final reports the failure.
 */
export function recognizeByPiece(decoder: PieceDecoder, { name, calls }: EngineContext): SpeechRecognizer {
  return {
    name,
    sampleRate,
    languages: decoder.languages,
    async *transcribe(audio, { signal, language }) {
      signal.throwIfAborted();
      const gone = new AbortController();
      const owner = {};
      const decode = (
        samples: Float32Array<ArrayBuffer>,
        _urgency: Urgency,
        dropped: AbortSignal,
        onText: (text: string) => void,
      ): Promise<PieceTranscript> =>
        calls.once(
          async ({ signal: given, meter }) => {
            meter.audioSeconds = samples.length / sampleRate;
            const onGrowing = (grown: string): void => {
              const known = readGrowingText(grown);
              if (known !== '') onText(known);
            };
            const decoded = await decoder.decode(samples, { signal: given, meter, language, onText: onGrowing });
            const heard = readModelText(decoded.text);
            return { ...decoded, text: heard.text, language: decoded.language ?? heard.language };
          },
          { signal: dropped, owner },
        );
      const listening = new DecodeAhead<PieceTranscript>({
        decode,
        believes: ({ text }) => text.trim() !== '',
        busy: () => calls.isFull,
        signal: AbortSignal.any([signal, gone.signal]),
        aheadAfterMs: decoder.pauseMs,
        retries: false,
        ...(decoder.partials ? {} : { partialEveryMs: Number.POSITIVE_INFINITY }),
      });
      try {
        for await (const frame of untilAborted(audio, { signal })) {
          checkRate(frame, sampleRate, name);
          await listening.push(frame);
          const text = listening.takePartial();
          if (text !== undefined) yield { type: 'transcript-partial', text };
        }
        const pieces = await listening.finish();
        signal.throwIfAborted();
        yield { type: 'transcript-final', ...conclude(pieces, language) };
      } finally {
        gone.abort(new Error('the caller stopped reading'));
      }
    },
  };
}

/** Joins all pieces; the confidence is their mean, weighted by length of text. */
function conclude(
  pieces: readonly PieceTranscript[],
  asked: string | undefined,
): { readonly text: string; readonly language?: string; readonly confidence?: number } {
  const text = joinTexts(pieces.map((piece) => piece.text));
  if (text === '') return { text };
  const language = pieces.find((piece) => piece.language !== undefined)?.language ?? asked;
  const weighed = pieces.filter((piece) => piece.confidence !== undefined && piece.text !== '');
  const length = weighed.reduce((sum, piece) => sum + piece.text.length, 0);
  const confidence = weighed.reduce((sum, piece) => sum + (piece.confidence ?? 0) * piece.text.length, 0) / length;
  return { text, ...(language === undefined ? {} : { language }), ...(length === 0 ? {} : { confidence }) };
}
