import type { Weights } from '../models/weights.ts';
import { openProcess, type EngineProcess } from '../runtime/process.ts';
import type { MachineSettings } from './settings.ts';

/** What the process is started with: to embed, or with `segmentation` to diarize. */
export interface SpeakerData {
  readonly name: string;
  readonly settings: MachineSettings & {
    readonly files: { readonly embedding: Weights; readonly segmentation?: Weights };
    /** How near voices must be to be one, 0 to 1; of diarizing alone. */
    readonly threshold?: number;
  };
}

/** Samples are at 16 kHz. */
export interface SpeakerRequest {
  readonly samples: Float32Array;
  /** How many people are heard, where that is known. */
  readonly speakers?: number | undefined;
}

/** When somebody speaks, from the beginning of the clip; speakers are numbered from 0. */
export interface SpeakerSegment {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: number;
}

export interface SpeakerReply {
  readonly embedding?: Float32Array;
  readonly segments?: readonly SpeakerSegment[];
}

/** Starts the process that knows speakers. */
export function openSpeakers(data: SpeakerData): EngineProcess<SpeakerRequest, SpeakerReply> {
  return openProcess({ name: data.name, url: new URL('./speaker-worker.ts', import.meta.url), data });
}
