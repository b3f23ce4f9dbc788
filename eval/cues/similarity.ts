import { access } from 'node:fs/promises';
import path from 'node:path';
import type { AudioFrame } from '../../voices/audio.ts';
import { readAudioFile } from '../../voices/dsp/audio-file.ts';
import type { CallOptions } from '../../voices/engine.ts';
import { resample } from '../../voices/dsp/resampler.ts';
import { cosine, type SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import { mean } from '../statistics.ts';
import type { Cue } from './cue.ts';

/**
 * Speaker similarity of the replies to the role's reference clip: cosine of two whole-clip embeddings, −1 to 1, as in
 * Seed-TTS-eval. Scores of different encoders are not comparable. `voices` is the folder with `<role>.wav`.
 */
export function similarityCue(encoder: SpeakerEncoder, voices: string): Cue {
  const references = new Map<string, Promise<Float32Array | null>>();
  const embed = async (clip: AudioFrame, options: CallOptions): Promise<Float32Array> => {
    const samples = resample(clip.samples, clip.sampleRate, encoder.sampleRate);
    return encoder.embed({ samples, sampleRate: encoder.sampleRate, atMs: 0 }, options);
  };
  const referenceOf = (role: string, options: CallOptions): Promise<Float32Array | null> => {
    const file = path.join(voices, `${role}.wav`);
    const known =
      references.get(role) ??
      access(file).then(
        async () => embed(await readAudioFile(file, { sampleRate: encoder.sampleRate, ...options }), options),
        () => null,
      );
    references.set(role, known);
    return known;
  };
  return {
    name: `similarity:${encoder.name}`,
    units: {
      toReference: `cosine to the role's clip, ${encoder.name}`,
      drift: 'cosine of the last reply to the first',
    },
    async measure({ role, replies }, options) {
      const reference = await referenceOf(role, options);
      if (reference === null) return { values: { toReference: null, drift: null }, why: `there is no clip of ${role}` };
      const embedded: Float32Array[] = [];
      for (const { sound } of replies) embedded.push(await embed(sound, options));
      const [first, last] = [embedded[0], embedded.at(-1)];
      const drift = embedded.length < 2 || first === undefined || last === undefined ? null : cosine(first, last);
      return { values: { toReference: mean(embedded.map((each) => cosine(each, reference))), drift } };
    },
  };
}
