import { mean } from '../statistics.ts';
import type { Cue } from './cue.ts';

/** A window this many decibels below the loudest one counts as a pause. */
const quietDecibels = 35;
const windowMs = 20;

/** Speaking rate of the replies, and the share of pauses in them. */
export const rateCue: Cue = {
  name: 'rate',
  units: { perSecond: 'words a second, Chinese: characters', pauses: 'share of silence between first and last sound' },
  async measure({ replies, language }) {
    const rates: number[] = [];
    const pauses: number[] = [];
    for (const { sound, text } of replies) {
      const found = spokenPart(sound.samples, sound.sampleRate);
      if (found === null) continue;
      pauses.push(found.pauses);
      const units = language === 'zh' ? text.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) : text.match(/[\p{L}\p{N}’']+/gu);
      if (units !== null) rates.push(units.length / found.seconds);
    }
    const values = { perSecond: mean(rates), pauses: mean(pauses) };
    return pauses.length === 0 ? { values, why: 'no sound' } : { values };
  },
};

function spokenPart(samples: Float32Array, sampleRate: number): { seconds: number; pauses: number } | null {
  const size = Math.round((sampleRate * windowMs) / 1000);
  const levels = Array.from({ length: Math.floor(samples.length / size) }, (_, at) => {
    const window = samples.subarray(at * size, (at + 1) * size);
    return 10 * Math.log10(window.reduce((sum, value) => sum + value * value, 0) / size + 1e-12);
  });
  const loudest = levels.reduce((most, level) => Math.max(most, level), -120);
  if (loudest < -70) return null;
  const isLoud = (level: number): boolean => level > loudest - quietDecibels;
  const [first, last] = [levels.findIndex(isLoud), levels.findLastIndex(isLoud)];
  const inside = levels.slice(first, last + 1);
  return {
    seconds: (inside.length * windowMs) / 1000,
    pauses: inside.filter((level) => !isLoud(level)).length / inside.length,
  };
}
