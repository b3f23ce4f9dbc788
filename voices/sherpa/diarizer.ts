import { z } from 'zod';
import type { AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { resample } from '../dsp/resampler.ts';
import { familyFiles, machineSettings, sampleRate } from './settings.ts';
import { openSpeakerProcess, type SpeakerSegment } from './speaker-process.ts';

/** Settings of a diarizer: a pyannote segmentation model, and a speaker encoder as for `sherpa/speaker-encoder.ts`. */
export const diarizerSettings = z.strictObject({
  files: familyFiles(['segmentation', 'embedding']),
  ...machineSettings,
  /** Maximum distance between embeddings of one speaker if their number is not given; higher gives fewer speakers. */
  threshold: z.number().min(0).max(1).default(0.5),
});

export type DiarizerSettings = z.infer<typeof diarizerSettings>;

export interface Diarizer {
  /** Returns the segments of all speakers in time order; pass `speakers` if their number is known. */
  diarize(clip: AudioFrame, options: CallOptions & { readonly speakers?: number }): Promise<readonly SpeakerSegment[]>;
  close(): Promise<void>;
}

/** Opens a speaker diarizer in its own process. Processing takes about a tenth of the clip's length. */
export function openDiarizer(settings: DiarizerSettings, name = 'diarizer'): Diarizer {
  const listener = openSpeakerProcess({ name, settings });
  return {
    async diarize(clip, { signal, speakers }) {
      const samples = resample(clip.samples, clip.sampleRate, sampleRate);
      const { segments = [] } = await listener.once({ samples, speakers }, { signal });
      return segments;
    },
    close: () => listener.close(),
  };
}
