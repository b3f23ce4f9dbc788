import { z } from 'zod';
import type { Adapter } from '../calls/context.ts';
import { EngineError, type CallOptions } from '../engine.ts';
import { resample } from '../dsp/resampler.ts';
import { familyFiles, machineSettings, sampleRate } from './settings.ts';
import { openSpeakerProcess } from './speaker-process.ts';
import { unitOf, type SpeakerEncoder } from '../speaker-encoder.ts';

const settings = z.strictObject({
  files: familyFiles(['embedding']),
  ...machineSettings,
  /** Embedding size: 192 for the usual CAM++ and ERes2NetV2, 512 for those of VoxCeleb and ERes2Net base. */
  dimensions: z.number().int().min(16).max(4_096).default(192),
});

export type SherpaEncoderSettings = z.infer<typeof settings>;

const leastSeconds = 0.5;

/** Speaker encoders by sherpa-onnx in their own process: CAM++, ERes2Net and those of WeSpeaker. */
export const adapter: Adapter<SpeakerEncoder, SherpaEncoderSettings> = {
  settings,
  callPolicy: () => ({ concurrency: 4 }),
  open(chosen, { name, calls }) {
    const { dimensions } = chosen;
    const speakers = openSpeakerProcess({ name, settings: chosen });
    const embed = async (samples: Float32Array, options: CallOptions): Promise<Float32Array> => {
      const { embedding = new Float32Array(0) } = await speakers.once({ samples }, options);
      if (embedding.length === dimensions) return Float32Array.from(unitOf(embedding));
      const detail = `the model returns ${embedding.length} dimensions, not ${dimensions}: set "dimensions" to ${embedding.length}`;
      throw new EngineError(name, 'ENGINE_MISSING', detail);
    };
    const warm = async (options: CallOptions): Promise<void> =>
      void (await embed(new Float32Array(sampleRate), options));
    return {
      name: `${name} ${chosen.files.embedding.sha256.slice(0, 8)}`,
      sampleRate,
      dimensions,
      embed: (clip, options) =>
        calls.once(({ signal, meter }) => {
          meter.audioSeconds = clip.samples.length / clip.sampleRate;
          if (meter.audioSeconds < leastSeconds) {
            const detail = `the clip is shorter than ${leastSeconds} s: use a longer one`;
            throw new EngineError(name, 'ENGINE_REFUSED', detail);
          }
          return embed(resample(clip.samples, clip.sampleRate, sampleRate), { signal });
        }, options),
      warm,
      async check(options) {
        await warm(options);
        return `is loaded, its weights match their SHA-256, ${dimensions} dimensions`;
      },
      close: () => speakers.close(),
    };
  },
};
