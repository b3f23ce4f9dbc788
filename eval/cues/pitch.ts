import { semitones, trackPitch } from '../../voices/dsp/pitch.ts';
import { mean } from '../statistics.ts';
import type { Cue } from './cue.ts';
import { median } from '../../voices/dsp/statistics.ts';

/** Pitch of the replies: median, spread, and drift from the first reply to the last. */
export const pitchCue: Cue = {
  name: 'pitch',
  units: {
    medianHz: 'fundamental frequency, median, Hz',
    spread: 'standard deviation, semitones',
    drift: 'last reply against the first, semitones',
  },
  async measure({ replies }) {
    const medians: number[] = [];
    const spreads: number[] = [];
    for (const { sound } of replies) {
      const { hertz } = trackPitch(sound.samples, sound.sampleRate);
      const voiced = hertz.filter((value) => value > 0);
      // Requires at least 0.1 s of voiced audio; less is a click.
      if (voiced.length < 10) continue;
      const middle = median(voiced);
      medians.push(middle);
      const squares = Array.from(voiced, (value) => semitones(value, middle) ** 2);
      spreads.push(Math.sqrt(mean(squares) as number));
    }
    const [first, last] = [medians[0], medians.at(-1)];
    const drift = medians.length < 2 || first === undefined || last === undefined ? null : semitones(last, first);
    const values = { medianHz: mean(medians), spread: mean(spreads), drift };
    return medians.length === 0 ? { values, why: 'no voiced sound' } : { values };
  },
};
