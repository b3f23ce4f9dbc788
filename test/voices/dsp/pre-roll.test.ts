import { expect, it } from 'vitest';
import { PreRoll } from '../../../voices/dsp/pre-roll.ts';
import type { AudioFrame } from '../../../voices/audio.ts';

/** Window number `index`, 32 ms long; its samples tell its number. */
function windowOf(index: number, length = 512): AudioFrame {
  const samples = new Float32Array(length).fill(index / 32_768);
  return { samples, sampleRate: 16_000, atMs: index * 32, voiced: index % 2 === 1 };
}

it('returns the latest windows of the pre-roll, however often its ring buffer wraps', () => {
  const before = new PreRoll();
  expect([before.fromMs, [...before.since(0)]]).toEqual([undefined, []]);
  for (let index = 0; index < 500; index += 1) {
    before.push(windowOf(index));
    before.forgetBefore((index - 40) * 32);
    // A few more than there was room for.
    if (index % 100 === 99) for (let more = 0; more < 3; more += 1) before.push(windowOf((index += 1)));
  }
  expect(before.fromMs).toBe(459 * 32);
  expect([...before.since(490 * 32)]).toEqual(Array.from({ length: 13 }, (_, index) => windowOf(490 + index)));
});

it('keeps pre-roll windows of any length and clears them', () => {
  const before = new PreRoll();
  const windows = [windowOf(0), windowOf(1, 100), windowOf(2, 2_000), windowOf(3)];
  for (const window of windows) before.push(window);
  expect([...before.since(-Infinity)]).toEqual(windows);
  before.clear();
  expect([before.fromMs, [...before.since(-Infinity)]]).toEqual([undefined, []]);
});
