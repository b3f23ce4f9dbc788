import { z } from 'zod';
import type { AudioFrame } from '../audio.ts';
import type { CallOptions } from '../engine.ts';
import { resample } from '../dsp/resampler.ts';
import { familyFiles, machineSettings, sampleRate } from './settings.ts';
import { openSpeakers, type SpeakerSegment } from './speakers.ts';

/** A pyannote segmentation model and a speaker encoder, as for `speaker-encoders/sherpa-onnx.ts`. */
export const diarizerSettings = z.strictObject({
  files: familyFiles(['segmentation', 'embedding']),
  ...machineSettings,
  /** How far apart voices may be to be one, where nobody says how many there are; more makes fewer speakers. */
  threshold: z.number().min(0).max(1).default(0.5),
});

export type DiarizerSettings = z.infer<typeof diarizerSettings>;

export interface Diarizer {
  /** Who speaks when, in order of time; `speakers` where it is known how many there are. */
  diarize(clip: AudioFrame, options: CallOptions & { readonly speakers?: number }): Promise<readonly SpeakerSegment[]>;
  close(): Promise<void>;
}

/** Finds the speakers of a clip, in a process of its own, which it keeps busy about as long as a tenth of the clip. */
export function openDiarizer(settings: DiarizerSettings, name = 'diarizer'): Diarizer {
  const listener = openSpeakers({ name, settings });
  return {
    async diarize(clip, { signal, speakers }) {
      const samples = resample(clip.samples, clip.sampleRate, sampleRate);
      const { segments = [] } = await listener.once({ samples, speakers }, { signal });
      return segments;
    },
    close: () => listener.close(),
  };
}
