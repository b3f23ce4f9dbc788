import type { Weights } from '../models/weights.ts';
import { openProcess, type EngineProcess } from '../runtime/process.ts';
import type { MachineSettings } from './settings.ts';

/** Start-up data of the process. It embeds, or diarizes if `segmentation` is given. */
export interface SpeakerData {
  readonly name: string;
  readonly settings: MachineSettings & {
    readonly files: { readonly embedding: Weights; readonly segmentation?: Weights };
    /** Clustering threshold, 0 to 1, for diarization only: see `diarizerSettings`. */
    readonly threshold?: number;
  };
}

/** Request to the process; samples are at 16 kHz. */
export interface SpeakerRequest {
  readonly samples: Float32Array;
  /** Number of speakers in the clip, if known. */
  readonly speakers?: number | undefined;
}

/** Stretch of speech by one speaker; times from the beginning of the clip, speakers numbered from 0. */
export interface SpeakerSegment {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: number;
}

export interface SpeakerProcessReply {
  readonly embedding?: Float32Array;
  readonly segments?: readonly SpeakerSegment[];
}

/** Starts the process that embeds or diarizes speakers. */
export function openSpeakerProcess(data: SpeakerData): EngineProcess<SpeakerRequest, SpeakerProcessReply> {
  return openProcess({ name: data.name, url: new URL('./speaker-worker.ts', import.meta.url), data });
}
