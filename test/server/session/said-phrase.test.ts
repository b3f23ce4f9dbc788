import { describe, expect, it } from 'vitest';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';
import { Playout, type SpeechSlice } from '../../../server/session/output/playout.ts';
import { ManualClock, settle } from '../../fakes/clock.ts';

/** Ten words of 100 ms. */
const text = 'One, two three four five six seven eight nine ten. ';
const words = text
  .trim()
  .split(' ')
  .map((word, at) => ({ text: word, startMs: at * 100, endMs: at * 100 + 100 }));
const chunk: SpeechChunk = { frame: { samples: new Float32Array(24_000), sampleRate: 24_000, atMs: 0 }, text, words };

describe('the phrase that a reply is saying', () => {
  it('is reported where it begins; its beginning moves with repeated speech after a hold', async () => {
    const clock = new ManualClock();
    const playout = new Playout({ clock, aheadMs: 100, signal: new AbortController().signal });
    const told: { readonly atMs: number; readonly fromMs: number }[] = [];
    const slices: SpeechSlice[] = [];
    const run = (async () => {
      for (const saidMs of [0, 40]) {
        for await (const slice of playout.pace(chunk, { text, before: '', saidMs })) {
          const atMs = playout.sentMs - (slice.samples.length / slice.sampleRate) * 1000;
          if (slice.phrase !== undefined)
            told.push({ atMs: Math.round(atMs), fromMs: Math.round(slice.phrase.fromMs) });
          slices.push(slice);
        }
      }
    })();
    await settle();
    await clock.advance(500);
    const sentMs = Math.round(playout.sentMs);
    playout.hold(true);
    await clock.advance(200);
    const laterMs = Math.round(playout.resume()?.laterMs ?? 0);
    expect(laterMs).toBeGreaterThan(0);
    await clock.advance(3_000);
    await run;
    expect(told).toEqual([
      { atMs: 0, fromMs: 0 },
      // What is said next is `laterMs` before what was sent last.
      { atMs: sentMs, fromMs: laterMs },
      { atMs: 1_000 + laterMs, fromMs: 1_000 + laterMs - 40 },
    ]);
  });
});
