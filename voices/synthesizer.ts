import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** A voice that comes with the engine. `pitch` and `rate` are factors on the engine's own, 1 = unchanged. */
export interface PresetVoice {
  readonly kind: 'preset';
  readonly id: string;
  readonly pitch?: number;
  readonly rate?: number;
}

/** A voice to be cloned from a clip; there is none without consent. */
export interface ReferenceVoice {
  readonly kind: 'reference';
  /** What it is called in the library of voices; absent where it is a clip of the engines file. */
  readonly id?: string;
  /** Who allowed it to be cloned, and how that is known; goes into the log with every use. */
  readonly consent: string;
  readonly wavPath: string;
  readonly transcript: string;
  readonly language: string;
}

/** Whose voice speaks. */
export type Voice = PresetVoice | ReferenceVoice;

/** A piece of text that can be spoken by itself. */
export interface Phrase {
  readonly text: string;
  readonly emotion?: string;
}

/** A word and when it sounds, in milliseconds from the start of its chunk. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** `text` is exactly what `frame` says, spaces included: the chunks of a phrase, joined, give the phrase. */
export interface SpeechChunk {
  readonly frame: AudioFrame;
  readonly text: string;
  readonly words?: readonly TimedWord[];
}

/**
 * Text to speech. Chunks come in order, the first as early as the engine can. `frame.atMs` counts from the start of the
 * call. An unknown preset falls back to the engine's default voice; a phrase with nothing to say yields nothing.
 */
export interface SpeechSynthesizer {
  readonly name: string;
  readonly sampleRate: number;
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  speak(
    phrases: AsyncIterable<Phrase>,
    options: CallOptions & { readonly voice: Voice; readonly language?: string; readonly speed?: number },
  ): AsyncIterable<SpeechChunk>;
}
