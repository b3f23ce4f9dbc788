import { mean, median } from '../dsp/statistics.ts';
import type { AudioFrame } from '../audio.ts';
import type { VoiceActivity } from '../recognition/transcribe-recording.ts';
import { trackPitch } from '../dsp/pitch.ts';
import { writingOf } from '../text/scripts.ts';
import type { Measured } from './record.ts';

/** Measurements that need no model. */
export type PlainMeasures = Pick<Measured, 'seconds' | 'snrDb' | 'pitch' | 'speakingRate'>;

/** Windows with at least this speech probability count as speech; those below `restBelow` count as background. */
const speechFrom = 0.5;
const restBelow = 0.2;
const mostDecibels = 100;
/** Fewer hops with a pitch are not significant: a fifth of a second. */
const leastPitched = 20;
/** Scripts written without spaces between words. */
const spaceless = new Set(['han', 'kana', 'thai']);

/** Measures a clip. `activity` is the VAD result for the same audio, at any rate. */
export function measureClip(
  { samples, sampleRate }: AudioFrame,
  activity: VoiceActivity,
  transcript: string,
): PlainMeasures {
  const spokenWindows = activity.probabilities.filter((probability) => probability >= speechFrom).length;
  return {
    seconds: rounded(samples.length / sampleRate, 3),
    snrDb: rounded(signalToNoise(activity), 1),
    pitch: pitchOf(samples, sampleRate),
    speakingRate: rateOf(transcript, (spokenWindows * activity.windowMs) / 60_000),
  };
}

/** SNR in decibels: the power of speech, minus noise, over the noise between speech, or in the quietest tenth. */
function signalToNoise({ windows, probabilities }: VoiceActivity): number {
  const powers = windows.map(powerOf);
  const speech = powers.filter((_, index) => (probabilities[index] ?? 0) >= speechFrom);
  const between = powers.filter((_, index) => (probabilities[index] ?? 0) < restBelow);
  const quietest = powers.toSorted((a, b) => a - b).slice(0, Math.max(1, Math.floor(powers.length / 10)));
  // The median, because windows at the edges contain some speech.
  const noise = median(between.length >= 3 ? between : quietest) || 0;
  const ratio = ((mean(speech) || 0) - noise) / Math.max(noise, 1e-12);
  return Math.min(mostDecibels, 10 * Math.log10(Math.max(1, ratio)));
}

function pitchOf(samples: Float32Array, sampleRate: number): Measured['pitch'] {
  const hertz = [...trackPitch(samples, sampleRate).hertz].filter((value) => value > 0).toSorted((a, b) => a - b);
  if (hertz.length < leastPitched) return null;
  const at = (part: number): number => rounded(hertz[Math.floor(part * (hertz.length - 1))] as number, 1);
  return { medianHertz: at(0.5), lowHertz: at(0.05), highHertz: at(0.95) };
}

function rateOf(transcript: string, minutes: number): Measured['speakingRate'] {
  const { script } = writingOf(transcript);
  const unit = script !== undefined && spaceless.has(script) ? 'characters' : 'words';
  const pattern = unit === 'characters' ? /[\p{L}\p{N}]/gu : /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;
  const count = transcript.match(pattern)?.length ?? 0;
  return count === 0 || minutes === 0 ? null : { perMinute: rounded(count / minutes, 0), unit };
}

/** Mean square of a block. */
export function powerOf(block: Float32Array): number {
  return block.length === 0 ? 0 : block.reduce((sum, value) => sum + value * value, 0) / block.length;
}

/** Rounds to this many decimal places. */
export function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
