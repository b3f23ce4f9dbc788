import type { EngineErrorCode } from '../../voices/engine.ts';

/** Behaviour of the recognizer in one utterance. */
export interface RecognizerBehavior {
  /** Interval of partial transcripts; 240 unless given. */
  readonly partialMs?: number;
  /** From the end of the utterance to the final transcript; 80 unless given. */
  readonly finalMs?: number;
  readonly fails?: 'at once' | 'while listening' | 'at the end';
  /** The transcript is marked as too uncertain to answer. */
  readonly unclear?: boolean;
}

/** Behaviour of the reply source in one reply. */
export interface ReplyBehavior {
  /** Text of the reply. By default, two sentences of new words, with `words` words each: 6 unless given. */
  readonly says?: string;
  readonly words?: number;
  /** 120 and 15 unless given. */
  readonly firstTokenMs?: number;
  readonly tokenMs?: number;
  /** Fails after this many words. */
  readonly failsAfter?: number;
  /** Stalls for `stallMs` after this many words. */
  readonly stallsAfter?: number;
  readonly stallMs?: number;
  /** Names of functions to call after the text. */
  readonly calls?: readonly string[];
  /** Another reply source takes over after this many words, and says `instead`. */
  readonly givesWayAfter?: number;
  readonly instead?: string;
}

/** Behaviour of the synthesizer in one reply. */
export interface SynthesizerBehavior {
  /** From a phrase to its first audio; 90 unless given. */
  readonly firstMs?: number;
  /** Real-time factor: processing time per duration of speech; 0.1 unless given. Over 1, it cannot keep up. */
  readonly work?: number;
  readonly failsAfter?: number;
  readonly stallsAfter?: number;
  readonly stallMs?: number;
  /** 240 unless given. */
  readonly wordMs?: number;
}

/** Behaviour of the engines of one session. Calls beyond a list behave as usual. */
export interface EngineScript {
  /** One entry per utterance. */
  readonly hears?: readonly RecognizerBehavior[];
  /**
   * One entry per reply. A reply that is aborted and made again, from the same number of messages, counts as the same
   * reply.
   */
  readonly thinks?: readonly ReplyBehavior[];
  /** One entry per reply, like `thinks`. */
  readonly speaks?: readonly SynthesizerBehavior[];
  /** End-of-turn probability of each call, 0 to 1; 1 beyond the list. */
  readonly completeness?: readonly number[];
  /** Defaults for all calls. */
  readonly usual?: RecognizerBehavior & ReplyBehavior & SynthesizerBehavior;
  /** Indexes of windows at which the VAD fails. */
  readonly deafAt?: readonly number[];
  readonly error?: EngineErrorCode;
}
