import { createRealDft } from './dft.ts';
import { energyIn, slaneyBands } from './mel-bands.ts';
import { mean } from './statistics.ts';

/** Required sample rate of both feature extractors: 16 kHz. */
export const logMelSampleRate = 16_000;
export const melBands = 80;

const frameSamples = 400;
const hopSamples = 160;
const bins = frameSamples / 2 + 1;
const highestHertz = 8_000;
/** Dynamic range: values are clamped to this many decades below the loudest. */
const rangeDecades = 8;
/** Input length of the turn detection model: 8 seconds. */
const turnSamples = 128_000;

const dft = createRealDft(frameSamples);
const hann = Float64Array.from({ length: frameSamples }, (_, index) => {
  return 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / frameSamples);
});
const bands = slaneyBands({ sampleRate: logMelSampleRate, frameSamples, bands: melBands, highestHertz });

/** Log-mel values `[80, frames]`: all frames of the lowest band, then of the next. One frame every 10 ms. */
export interface LogMel {
  readonly frames: number;
  readonly values: Float32Array<ArrayBuffer>;
}

/**
 * Whisper's features of mono samples at 16 kHz (openai/whisper `log_mel_spectrogram`; Hugging Face
 * `WhisperFeatureExtractor`): frames of 25 ms centred on every 160th sample, mirrored at the ends, periodic Hann
 * window, power, 80 Slaney mel bands up to 8 kHz, log10, clamped to 8 decades below the loudest, (x + 4) / 4; roughly
 * -1.5 to 1.5. Gives `floor(samples / 160)` frames, none below 201 samples.
 */
export function whisperLogMel(samples: Float32Array): LogMel {
  const edge = frameSamples / 2;
  const frames = samples.length > edge ? Math.floor(samples.length / hopSamples) : 0;
  const values = new Float32Array(melBands * frames);
  const windowed = new Float64Array(frameSamples);
  const power = new Float64Array(bins);
  let loudest = Number.NEGATIVE_INFINITY;
  for (let frame = 0; frame < frames; frame += 1) {
    const start = frame * hopSamples - edge;
    for (let index = 0; index < frameSamples; index += 1) {
      windowed[index] = (samples[mirrored(start + index, samples.length)] as number) * (hann[index] as number);
    }
    dft.powerSpectrum(windowed, 0, power);
    for (const [band, filter] of bands.entries()) {
      const value = Math.log10(Math.max(energyIn(filter, power), 1e-10));
      loudest = Math.max(loudest, value);
      values[band * frames + frame] = value;
    }
  }
  for (let index = 0; index < values.length; index += 1) {
    values[index] = (Math.max(values[index] as number, loudest - rangeDecades) + 4) / 4;
  }
  return { frames, values };
}

/**
 * Input features of smart-turn v3 (pipecat-ai/pipecat `local_smart_turn_v3.py`): the last 8 seconds, shorter audio
 * left-padded with silence, normalized to mean 0 and variance 1 including that silence, as 800 frames of
 * `whisperLogMel`.
 */
export function smartTurnFeatures(samples: Float32Array): LogMel {
  const turn = new Float32Array(turnSamples);
  const kept = samples.subarray(Math.max(0, samples.length - turnSamples));
  turn.set(kept, turnSamples - kept.length);
  const center = mean(turn);
  const variance = turn.reduce((sum, value) => sum + (value - center) ** 2, 0) / turnSamples;
  const scale = 1 / Math.sqrt(variance + 1e-7);
  return whisperLogMel(turn.map((value) => (value - center) * scale));
}

function mirrored(place: number, length: number): number {
  if (place < 0) return -place;
  return place < length ? place : 2 * (length - 1) - place;
}
