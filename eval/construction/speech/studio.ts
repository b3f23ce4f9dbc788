import { z } from 'zod';
import { cardSchema } from '../../../characters/card.ts';
import type { QualityMeter } from '../../../voices/quality/dnsmos.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeakerEncoder } from '../../../voices/speaker-encoder.ts';
import type { SpeechSynthesizer, Voice } from '../../../voices/synthesizer.ts';

/** Engines that speak dialogues and measure what was spoken. */
export interface SpeechStudio {
  readonly recognizer: SpeechRecognizer;
  /** Absent: DNSMOS is not measured. */
  readonly meter?: QualityMeter | undefined;
  /** Absent: the similarity to the reference clip is not measured. */
  readonly encoder?: SpeakerEncoder | undefined;
  /** Voice of a speaker, and the engine of the voice. */
  voiceOf(speaker: Speaker): { readonly synthesizer: SpeechSynthesizer; readonly voice: Voice };
}

/** Somebody who speaks in a dialogue. */
export interface Speaker {
  /** Name in the dialogues; `User` for the users of all roles. */
  readonly name: string;
  /** Name of the role's files; the same as the name for others. */
  readonly key: string;
}

/** Voices by speaker, in the form of character cards; `*` is anybody else. */
export const speakerVoices = z.record(z.string(), cardSchema.shape.voice.partial());
export type SpeakerVoices = z.infer<typeof speakerVoices>;
