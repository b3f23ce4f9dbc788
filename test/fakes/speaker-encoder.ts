import { durationMs, type AudioFrame } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import { logMelSampleRate, melBands, whisperLogMel } from '../../voices/dsp/log-mel.ts';
import { Resampler } from '../../voices/dsp/resampler.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';

/**
 * Embeds a voice by the shape of its mean spectrum. `fails`: every call fails. `clips` records the length of each clip
 * in ms.
 */
export function fakeSpeakerEncoder(options: { readonly fails?: boolean } = {}): SpeakerEncoder & { clips: number[] } {
  const clips: number[] = [];
  const refused = (detail: string): EngineError => new EngineError('fake-speaker', 'ENGINE_REFUSED', detail);
  return {
    name: 'fake-speaker',
    sampleRate: logMelSampleRate,
    dimensions: melBands,
    clips,
    async embed(clip: AudioFrame, { signal }) {
      signal.throwIfAborted();
      clips.push(durationMs(clip));
      if (options.fails === true) throw refused('it is broken');
      if (durationMs(clip) < 500) throw refused('the clip is too short');
      const { frames, values } = whisperLogMel(new Resampler(clip.sampleRate, logMelSampleRate).push(clip.samples));
      const means = Array.from({ length: melBands }, (_, band) => {
        return values.subarray(band * frames, (band + 1) * frames).reduce((sum, value) => sum + value, 0) / frames;
      });
      const mean = means.reduce((sum, value) => sum + value, 0) / melBands;
      const shape = means.map((value) => value - mean);
      return Float32Array.from(shape, (value) => value / Math.hypot(...shape));
    },
  };
}

/** A synthetic voice at 24 kHz: a buzz whose harmonics peak around two formants, like those of a vowel. */
export function buzz(
  ms: number,
  { pitch, formants }: { readonly pitch: number; readonly formants: readonly number[] },
) {
  const harmonics = Array.from({ length: 20 }, (_, index) => {
    const hertz = pitch * (index + 1);
    return { hertz, level: formants.reduce((sum, formant) => sum + Math.exp(-(((hertz - formant) / 250) ** 2)), 0) };
  });
  const norm = harmonics.reduce((sum, { level }) => sum + level, 0);
  return Float32Array.from({ length: ms * 24 }, (_, at) => {
    const value = harmonics.reduce(
      (sum, { hertz, level }) => sum + level * Math.sin((2 * Math.PI * hertz * at) / 24_000),
      0,
    );
    return (0.9 * value) / norm;
  });
}

/** The audio as picked up through a room and a cheap microphone: duller, softer, with reflections. */
export function inRoom(samples: Float32Array): Float32Array {
  let dull = 0;
  return samples.map((value, at) => {
    dull += 0.5 * (value + 0.4 * (samples[at - 700] ?? 0) + 0.3 * (samples[at - 1_900] ?? 0) - dull);
    return 0.7 * dull;
  });
}
