import { expect, it } from 'vitest';
import { actionDelaysMs, openWorkletSpeaker } from './worklet-speaker.ts';

it('performs an action within 20 ms of its sample, as the audio thread reports what it has played', async () => {
  const seconds = 20;
  const samples = Array.from({ length: 400 }, (_, index) => 1_000 + index * 1_171);
  const { delaysMs, reports } = await actionDelaysMs(samples, seconds);
  expect(delaysMs).toHaveLength(samples.length);
  expect(Math.min(...delaysMs)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delaysMs)).toBeLessThan(20);
  expect(reports).toBeLessThan(100 * seconds);
});

it('measures the level over 40 ms, however often the position is reported', async () => {
  const speaker = await openWorkletSpeaker();
  // A period of 40 ms: half of it sounds.
  const samples = Float32Array.from({ length: 24_000 }, (_, at) => (at % 1_024 < 512 ? 0.2 : 0));
  speaker.order({ type: 'play', itemId: 'i', samples, sentLate: 0 });
  const levels: number[] = [];
  for (let block = 0; block < 150; block += 1)
    for (const report of speaker.render()) if (report.type === 'progress') levels.push(report.level);
  for (const level of levels.slice(8)) expect(level).toBeCloseTo(0.2 / Math.SQRT2, 2);
});
