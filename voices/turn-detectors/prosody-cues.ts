import { mean, median } from '../dsp/statistics.ts';
import type { AudioFrame } from '../audio.ts';
import { semitones, trackPitch } from '../dsp/pitch.ts';

/** Prosody of the speech before a pause. Each value is about -2 to 2; 0 if it is unknown. */
export interface ProsodyCues {
  /**
   * Pitch of the end above the lowest of the last seconds, in octaves: at the end of a turn the voice falls to its
   * baseline.
   */
  readonly height: number;
  /** Fall of the pitch over the last voiced stretch, in semitones per 100 ms; 0 for a rise. */
  readonly fall: number;
  /** 1 for a rise of more than a semitone per 100 ms: a question, which is complete as well. */
  readonly rise: number;
  /** Level of the last 150 ms of speech below that of the speech before, in units of 10 dB. */
  readonly fade: number;
  /** Time from the last peak of loudness to the end, in syllables of this speaker: final syllables are lengthened. */
  readonly lengthening: number;
  /** Natural logarithm of the seconds from the first sound to the last. */
  readonly duration: number;
}

/** Audio that is analysed: long enough to know the speaker's range, short enough to take a few milliseconds. */
const lookedAtMs = 4_000;
const hopMs = 10;
/** Speech ends at the last level within this distance of the loudest. */
const speechDecibels = 30;
const least = { voicedHops: 8, speechHops: 20 };

/** Measures the end of `turn`; returns undefined if it has too little speech. Takes a few milliseconds; pure. */
export function prosodyCues({ samples, sampleRate }: AudioFrame): ProsodyCues | undefined {
  const { hertz, levels } = trackPitch(samples.slice(-Math.ceil((lookedAtMs / 1000) * sampleRate)), sampleRate);
  const loudest = levels.reduce((most, level) => Math.max(most, level), -100);
  const sounds = (level: number): boolean => level > loudest - speechDecibels && level > -70;
  const first = levels.findIndex(sounds);
  const end = levels.findLastIndex(sounds) + 1;
  if (first < 0 || end - first < least.speechHops) return undefined;
  const spoken = levels.subarray(first, end);
  const { height, fall } = pitchCues(hertz.subarray(first, end));
  return {
    height,
    fall: clip(fall, 0, 2),
    rise: fall < -1 ? 1 : 0,
    fade: clip((median(spoken.filter(sounds)) - mean(spoken.subarray(-15))) / 10, -2, 2),
    lengthening: lengthening(spoken),
    duration: clip(
      Math.log(((samples.length / sampleRate) * 1000 - levels.length * hopMs + (end - first) * hopMs) / 1000),
      -2,
      2,
    ),
  };
}

function pitchCues(hertz: Float32Array): { readonly height: number; readonly fall: number } {
  const voiced = hertz.filter((value) => value > 0).toSorted();
  const last = [...hertz.subarray(-40)].map((value, hop) => ({ hop, value })).filter(({ value }) => value > 0);
  if (voiced.length < least.voicedHops || last.length < least.voicedHops / 2) return { height: 0, fall: 0 };
  const floor = voiced[Math.floor(voiced.length * 0.1)] as number;
  const final = median(last.slice(-6).map(({ value }) => value));
  const stretch = last.slice(-20).map(({ hop, value }) => ({ hop, pitch: semitones(value, floor) }));
  const middle = mean(stretch.map(({ hop }) => hop));
  const spread = stretch.reduce((sum, { hop }) => sum + (hop - middle) ** 2, 0);
  const slope = stretch.reduce((sum, { hop, pitch }) => sum + (hop - middle) * pitch, 0) / Math.max(1, spread);
  return { height: clip(semitones(final, floor) / 12, -1, 2), fall: -slope * (100 / hopMs) };
}

/** Measures final lengthening; peaks of the smoothed level stand for syllables. */
function lengthening(levels: Float32Array): number {
  const smooth = levels.map((_, hop) => mean(levels.subarray(Math.max(0, hop - 2), hop + 3)));
  const reach = 6;
  const peaks: number[] = [];
  for (let hop = 0; hop < smooth.length; hop += 1) {
    const around = smooth.subarray(Math.max(0, hop - reach), hop + reach + 1);
    const here = smooth[hop] as number;
    const isPeak = around.every((level) => level <= here) && here - Math.min(...around) > 2;
    if (isPeak && hop - (peaks.at(-1) ?? -reach) >= reach) peaks.push(hop);
  }
  const gaps = peaks.slice(1).map((peak, index) => peak - (peaks[index] as number));
  if (gaps.length < 2) return 0;
  return clip((levels.length - (peaks.at(-1) as number)) / median(gaps) - 0.7, -1, 2);
}

function clip(value: number, lowest: number, highest: number): number {
  return Math.min(highest, Math.max(lowest, value));
}
