import { describe, expect, it } from 'vitest';
import { calibrationSvg, calibrationText } from './speech/calibration-plot.ts';
import type { Judged } from './speech/real-speech.ts';

/** A moment that every method judges the same. */
function moment(speaker: string, kind: Judged['kind'], probability: number): Judged {
  const completeness = { words: probability, sound: probability, both: probability };
  const place = { set: 'a & b', id: speaker, speaker, half: 'held-out', turnMs: 1_000, text: '', words: 0 } as const;
  return { ...place, sampled: true, kind, ...(kind === 'pause' ? { silentMs: 400 } : {}), completeness };
}

const cases = Array.from({ length: 20 }, (_, index) => {
  const speaker = String(index);
  const ends = [0.95, 0.55].map((probability) => moment(speaker, 'end', probability));
  const pauses = [0.05, 0.55].map((probability) => moment(speaker, 'pause', probability));
  return [...ends, ...pauses];
}).flat();

describe('the calibration plot', () => {
  it('draws a diagram for each method, with a disc at each observed share of ends', () => {
    const svg = calibrationSvg(cases, 'judged < observed');
    expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
    expect(svg).toContain('judged &lt; observed');
    expect(svg).toContain('40 ends, 40 pauses, 20 speakers');
    const shares = [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map((match) => match[1]);
    const each = ['0 % ends (0 ends, 20 pauses)', '50 % ends (20 ends, 20 pauses)', '100 % ends (20 ends, 0 pauses)'];
    expect(shares).toEqual([...each, ...each, ...each]);
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  it('prints ranges without any moment as empty', () => {
    const lines = calibrationText(cases).split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[2]).toContain('nothing');
    expect(lines[6]).toContain('50 % of 20 ends and 20 pauses');
  });
});
