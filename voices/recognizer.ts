import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** Reason why a final transcript is empty although something was said. */
export interface Unclear {
  /** `low_confidence`: recognized too poorly. `language_not_supported`: probably not a language of this engine. */
  readonly code: 'low_confidence' | 'language_not_supported';
  /** Message to the user: what happened and what to do about it. */
  readonly message: string;
}

/** Each partial replaces the one before: it holds the whole text so far. */
export type TranscriptPart =
  | {
      readonly type: 'transcript-partial';
      readonly text: string;
      /** Confidence of the latest part, 0 to 1; absent if the engine does not report it. */
      readonly confidence?: number;
    }
  | {
      readonly type: 'transcript-final';
      /** Empty if nothing was said, or if `unclear` is set. */
      readonly text: string;
      readonly language?: string;
      /** 0 to 1; absent if the engine does not report it. */
      readonly confidence?: number;
      readonly unclear?: Unclear;
    };

/**
 * Speech to text. Yields any number of partials, then exactly one final, then ends. The end of `audio` is the end of
 * the utterance. Frames arrive at `sampleRate`. They may carry `voiced`: an engine may decode ahead when it turns
 * false, and must return an empty final if it was never true.
 */
export interface SpeechRecognizer {
  readonly name: string;
  readonly sampleRate: number;
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  transcribe(
    audio: AsyncIterable<AudioFrame>,
    options: CallOptions & { readonly language?: string },
  ): AsyncIterable<TranscriptPart>;
}
