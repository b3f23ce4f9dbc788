import { concatSamples } from '../../../voices/audio.ts';
import type { SpeechChunk, SpeechSynthesizer, Voice } from '../../../voices/synthesizer.ts';
import { phrasesOf } from '../../fakes/spoken.ts';
import { median } from '../../../voices/dsp/statistics.ts';

/** Synthesizes texts to the end. */
export function speakAll(
  synthesizer: SpeechSynthesizer,
  voice: Voice,
  texts: readonly string[],
  options: { readonly language?: string; readonly speed?: number } = {},
): Promise<SpeechChunk[]> {
  const { signal } = new AbortController();
  return Array.fromAsync(synthesizer.speak(phrasesOf(...texts), { signal, voice, ...options }));
}

/** Length of speech in milliseconds. */
export function lengthMs(chunks: readonly SpeechChunk[]): number {
  return chunks.reduce((sum, { frame }) => sum + (frame.samples.length / frame.sampleRate) * 1000, 0);
}

/** Largest absolute sample value. */
export function peakOf(chunks: readonly SpeechChunk[]): number {
  return joined(chunks).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Level in decibels of full scale, including pauses. */
export function levelDb(chunks: readonly SpeechChunk[]): number {
  const samples = joined(chunks);
  return 10 * Math.log10(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
}

/** Median fundamental frequency of the voiced parts in hertz, by autocorrelation; NaN without voice. */
export function medianPitch(chunks: readonly SpeechChunk[]): number {
  const rate = chunks[0]?.frame.sampleRate ?? 0;
  const samples = joined(chunks);
  const window = Math.round(rate * 0.04);
  const pitches: number[] = [];
  for (let start = 0; start + 2 * window < samples.length; start += window) {
    const lag = bestLag(samples.subarray(start, start + 2 * window), window, Math.floor(rate / 400));
    if (lag !== undefined) pitches.push(rate / lag);
  }
  return median(pitches);
}

/** The shortest lag that fits almost as well as the best; undefined if none fits well. */
function bestLag(samples: Float32Array, window: number, shortest: number): number | undefined {
  const fits: number[] = [];
  for (let lag = shortest; lag <= window; lag += 1) {
    let product = 0;
    let own = 1e-9;
    let shifted = 1e-9;
    for (let index = 0; index < window; index += 1) {
      const here = samples[index] as number;
      const there = samples[index + lag] as number;
      product += here * there;
      own += here * here;
      shifted += there * there;
    }
    fits.push(own / window < 0.0004 ? 0 : product / Math.sqrt(own * shifted));
  }
  const best = Math.max(...fits);
  if (best < 0.8) return undefined;
  const place = fits.findIndex(
    (fit, index) => fit > 0.92 * best && fit >= (fits[index - 1] ?? 0) && fit >= (fits[index + 1] ?? 0),
  );
  return shortest + place;
}

function joined(chunks: readonly SpeechChunk[]): Float32Array {
  return concatSamples(chunks.map(({ frame }) => frame.samples));
}
