import { describe, expect, it } from 'vitest';
import type { PcmBlock } from '../../../voices/calls/pcm-stream.ts';
import {
  withWordTimings,
  speechUnits,
  type SpeakingRate,
  type WordTimingOptions,
  type TimedAudio,
} from '../../../voices/synthesis/estimated-word-timings.ts';
import { tone } from '../../fakes/vad.ts';

const text = 'Mind the step, traveller, and the low beam. ';

/** Audio of this many milliseconds, in blocks of 100 ms. */
async function* sound(ms: number, sampleRate = 24_000): AsyncGenerator<PcmBlock> {
  for (let at = 0; at < ms; at += 100) yield { samples: tone(Math.min(100, ms - at), sampleRate), sampleRate };
}

function told(
  blocks: AsyncIterable<PcmBlock>,
  form: Partial<WordTimingOptions> = {},
  words = text,
): Promise<TimedAudio[]> {
  const pace: SpeakingRate = { msPerUnit: undefined };
  return Array.fromAsync(
    withWordTimings(words, blocks, { sampleRate: 24_000, fadeOutMs: 0, comesWhole: false, pace, ...form }),
  );
}

const lengthMs = (pieces: readonly TimedAudio[]): number =>
  pieces.reduce((sum, { samples }) => sum + samples.length, 0) / 24;

describe('estimated word timings', () => {
  it.each([
    ['as long as guessed', 3_300],
    ['shorter', 900],
    ['longer', 9_000],
  ])('all words come with the audio when it is %s', async (_name, ms) => {
    const pieces = await told(sound(ms));
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    expect(lengthMs(pieces)).toBeCloseTo(ms, 0);
    for (const { samples, words } of pieces) {
      for (const word of words) expect(word.endMs).toBeLessThanOrEqual(samples.length / 24 + 0.001);
    }
  });

  it('the words come neither all at once nor all at the end', async () => {
    const pieces = await told(sound(3_300));
    const half = pieces
      .slice(0, pieces.length / 2)
      .map((piece) => piece.text)
      .join('');
    expect(half.length).toBeGreaterThan(text.length * 0.3);
    expect(half.length).toBeLessThan(text.length * 0.8);
  });

  it('the estimate improves once the speaking rate of the voice is known', async () => {
    const pace: SpeakingRate = { msPerUnit: undefined };
    await told(sound(9_000), { pace });
    expect(pace.msPerUnit).toBeCloseTo(9_000 / speechUnits(text));
    const pieces = await told(sound(9_000), { pace });
    const third = pieces
      .slice(0, pieces.length / 3)
      .map((piece) => piece.text)
      .join('');
    expect(third.length).toBeLessThan(text.length * 0.5);
  });

  it('the words need no spaces between them', async () => {
    const pieces = await told(sound(1_500), {}, '你好，旅人。');
    expect(pieces.map((piece) => piece.text).join('')).toBe('你好，旅人。');
    expect(pieces.filter((piece) => piece.text !== '').length).toBeGreaterThan(2);
  });
});

describe('streamed speech', () => {
  it('audio that comes whole is one chunk with its words spread over all of it', async () => {
    const [piece, ...others] = await told(sound(2_000), { comesWhole: true });
    expect(others).toEqual([]);
    expect(piece?.text).toBe(text);
    expect(piece?.words.at(-1)?.endMs).toBeCloseTo(2_000, -1);
  });

  it('streamed audio is resampled to the requested rate', async () => {
    expect(lengthMs(await told(sound(1_000, 32_000)))).toBeCloseTo(1_000, 0);
  });

  it.each([true, false])('audio that ends abruptly is faded out (in one piece: %s)', async (comesWhole) => {
    const pieces = await told(sound(1_000), { comesWhole, fadeOutMs: 40 });
    const last = pieces.at(-1)?.samples ?? new Float32Array(0);
    const peak = (samples: Float32Array): number => samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(peak(last.slice(-48))).toBeLessThan(0.05);
  });

  it('no audio gives no chunk', async () => {
    expect(await told(sound(0))).toEqual([]);
    expect(await told(sound(0), { comesWhole: true })).toEqual([]);
  });
});
