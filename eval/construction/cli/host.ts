import type { Vad } from '../../../voices/vad.ts';
import type { HostedReference, JobsHost } from '../../host.ts';
import type { SpeakerVoices, SpeechStudio } from '../speech/studio.ts';

/** Voices to speak with, beside those that the settings name. */
export interface WantedVoices {
  /** Settings of the server by name. */
  readonly settings: Readonly<Record<string, string | boolean>>;
  readonly voices: SpeakerVoices;
  /** Clips to clone, by key of the role. */
  readonly references: Readonly<Record<string, HostedReference>>;
}

/** Services that the surrounding program gives to `dramatis data`. */
export interface DataHost {
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  /** Prints progress, to standard error. */
  readonly note: (text: string) => void;
  /** Opens the configured engines; the embedded ones by default. */
  openStudio(wanted: WantedVoices): Promise<SpeechStudio & { readonly vad: Vad; close(): Promise<void> }>;
  /** Absent if builds cannot start workers. */
  readonly jobs?: JobsHost;
}
