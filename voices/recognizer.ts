import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** Why a final transcript is empty although something was said. */
export interface Unclear {
  /** `low_confidence`: heard badly. `language_not_supported`: probably a language this engine does not know. */
  readonly code: 'low_confidence' | 'language_not_supported';
  /** For the user: what happened and what to do about it. */
  readonly message: string;
}

/** Partials replace each other: each holds the whole text so far. */
export type TranscriptPart =
  | {
      readonly type: 'transcript-partial';
      readonly text: string;
      /** Of what was heard last, 0 to 1; absent where the engine cannot tell. */
      readonly confidence?: number;
    }
  | {
      readonly type: 'transcript-final';
      /** Empty when nothing was said, or when `unclear` is set. */
      readonly text: string;
      readonly language?: string;
      /** 0 to 1; absent where the engine cannot tell. */
      readonly confidence?: number;
      readonly unclear?: Unclear;
    };

/**
 * Speech to text. Any number of partials, then exactly one final, then the end. The end of `audio` is the end of the
 * utterance. Frames may carry `voiced`: an engine may decode ahead when it turns false, and must answer with an empty
 * final where it was never true. Frames arrive at `sampleRate`.
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
