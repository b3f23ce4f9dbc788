import type { AudioFrame } from './audio.ts';
import type { CallOptions } from './engine.ts';

/** A voice that comes with the engine. `pitch` and `rate` are factors on the engine's own; 1 = unchanged. */
export interface PresetVoice {
  readonly kind: 'preset';
  readonly id: string;
  readonly pitch?: number;
  readonly rate?: number;
}

/** A voice to be cloned from a clip; consent is required. */
export interface ReferenceVoice {
  readonly kind: 'reference';
  /** Id in the voice library; absent for a clip named in the engines file. */
  readonly id?: string;
  /** Record of who allowed the cloning and how that is known; logged with every use. */
  readonly consent: string;
  readonly wavPath: string;
  readonly transcript: string;
  readonly language: string;
}

/** Voice to speak with. */
export type Voice = PresetVoice | ReferenceVoice;

/** A piece of text that can be spoken by itself. */
export interface Phrase {
  readonly text: string;
  readonly emotion?: string | undefined;
}

/** A word with its start and end, in milliseconds from the start of its chunk. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Shapes of the mouth, as OVRLipSync and OpenXR name them: `sil` is closed at rest, `PP` pressed together. */
export const visemes = [
  'sil',
  'PP',
  'FF',
  'TH',
  'DD',
  'kk',
  'CH',
  'SS',
  'nn',
  'RR',
  'aa',
  'E',
  'ih',
  'oh',
  'ou',
] as const;
export type Viseme = (typeof visemes)[number];

/** A sound of speech in IPA; a pause is empty. Milliseconds from the start of its chunk. */
export interface TimedPhone {
  readonly sound: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A shape of the mouth, which holds until the next one; the weight is 1 unless given. */
export interface TimedViseme {
  readonly viseme: Viseme;
  readonly startMs: number;
  readonly weight?: number;
}

/** Movement of the mouth in a chunk. The first shape and the first phone begin at 0. */
export interface MouthMovement {
  /**
   * Source of the times: the engine itself; its times of the words, within which sounds are shared out; a reference voice
   * that was aligned with the sound; or the audio alone, which gives no phones.
   */
  readonly basis: 'engine' | 'words' | 'aligned' | 'sound';
  readonly visemes: readonly TimedViseme[];
  readonly phones: readonly TimedPhone[];
}

export interface SpeakOptions extends CallOptions {
  readonly voice: Voice;
  readonly language?: string;
  /** Factor on the tempo; 1 = the voice's own. */
  readonly speed?: number;
  /** The same seed gives the same samples, as far as the engine can; costs time where engines draw by chance. */
  readonly seed?: number;
  /** Returns true as long as nobody waits for this speech: an engine with a queue takes it after all other. */
  readonly isBackground?: () => boolean;
}

/** `text` is exactly what `frame` says, spaces included: the joined chunks of a phrase are the phrase. */
export interface SpeechChunk {
  readonly frame: AudioFrame;
  readonly text: string;
  readonly words?: readonly TimedWord[];
  /** Set if the engine itself reported the times of the words; otherwise they are estimates. */
  readonly wordsAreExact?: true;
  /** Absent if the engine reports no times of its phones. */
  readonly mouth?: MouthMovement;
}

/**
 * Text to speech. Chunks come in order, the first as early as the engine can. `frame.atMs` counts from the start of the
 * call. An unknown preset falls back to the engine's default voice; a phrase with nothing to speak yields nothing.
 */
export interface SpeechSynthesizer {
  readonly name: string;
  readonly sampleRate: number;
  /** BCP 47 primary tags. */
  readonly languages: readonly string[];
  /** Returns true if the phrase has the same samples in every call with these options, in every process and after any speech. */
  isRepeatable?(phrase: Phrase, options: Pick<SpeakOptions, 'voice' | 'language' | 'seed'>): boolean;
  speak(phrases: AsyncIterable<Phrase>, options: SpeakOptions): AsyncIterable<SpeechChunk>;
}
