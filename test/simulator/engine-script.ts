import type { EngineErrorCode } from '../../voices/engine.ts';

/** How the recognizer does with one utterance. */
export interface Hearing {
  /** Between two partials; 240 unless given. */
  readonly partialMs?: number;
  /** From the end of the utterance to the final transcript; 80 unless given. */
  readonly finalMs?: number;
  readonly fails?: 'at once' | 'while listening' | 'at the end';
  /** Not understood well enough to be answered. */
  readonly unclear?: boolean;
}

/** How the mind makes one reply. */
export interface Thinking {
  /** Words that nobody has said before unless given; so many in each of two sentences: 6 unless given. */
  readonly says?: string;
  readonly words?: number;
  /** 120 and 15 unless given. */
  readonly firstTokenMs?: number;
  readonly tokenMs?: number;
  /** Fails once it has given so many words. */
  readonly failsAfter?: number;
  /** Stops for `stallMs` once it has given so many words. */
  readonly stallsAfter?: number;
  readonly stallMs?: number;
  /** Names of functions that it calls after what it says. */
  readonly calls?: readonly string[];
  /** Another mind takes over once this one has given so many words, and says `instead`. */
  readonly givesWayAfter?: number;
  readonly instead?: string;
}

/** How the voice speaks one reply. */
export interface Speaking {
  /** From a phrase to its first sound; 90 unless given. */
  readonly firstMs?: number;
  /** Work for each millisecond of speech, in milliseconds; 0.1 unless given. Over 1 it cannot keep up. */
  readonly work?: number;
  readonly failsAfter?: number;
  readonly stallsAfter?: number;
  readonly stallMs?: number;
  /** 240 unless given. */
  readonly wordMs?: number;
}

/** What the engines of one session do; what is beyond a list is as usual. */
export interface EngineScript {
  /** Utterance by utterance. */
  readonly hears?: readonly Hearing[];
  /** Reply by reply; one that is given up and made anew, from as much history, is the same reply. */
  readonly thinks?: readonly Thinking[];
  /** The voices of those replies. */
  readonly speaks?: readonly Speaking[];
  /** How likely it seems that the person has finished, 0 to 1, each time it is asked; 1 beyond the list. */
  readonly completeness?: readonly number[];
  /** What is so in every call that does not say otherwise. */
  readonly usual?: Hearing & Thinking & Speaking;
  /** Windows of sound at which the VAD fails. */
  readonly deafAt?: readonly number[];
  readonly error?: EngineErrorCode;
}
