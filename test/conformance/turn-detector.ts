import { describe, expect, it } from 'vitest';
import type { AudioFrame } from '../../voices/audio.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import type { Subject } from './upstream.ts';

const reason = new Error('the user goes on');

/** A voice with falling pitch, then silence: 16 kHz, one second. */
function sigh(): AudioFrame {
  const voiced = 12_000;
  const samples = Float32Array.from({ length: 16_000 }, (_, index) =>
    index < voiced ? 0.3 * Math.sin((2 * Math.PI * (180 - (60 * index) / voiced) * index) / 16_000) : 0,
  );
  return { samples, sampleRate: 16_000, atMs: 0 };
}

/** Requirements on every `TurnDetector`. */
export function turnDetectorConformance(subject: Subject<TurnDetector>): void {
  const asked = (engine: TurnDetector, turn: AudioFrame, text?: string): Promise<number> =>
    engine.endOfTurnProbability(turn, {
      signal: new AbortController().signal,
      ...(text === undefined ? {} : { text }),
    });

  describe(`${subject.title} as a turn detector`, () => {
    it.each([
      ['sound and words', sigh(), 'I would like a room for the night.'],
      ['Chinese words', sigh(), '我想要一个房间'],
      ['sound alone', sigh(), undefined],
      ['words alone', { samples: new Float32Array(0), sampleRate: 16_000, atMs: 0 }, 'And then'],
      ['another sample rate', { ...sigh(), sampleRate: 24_000 }, 'Yes.'],
      ['silence', { samples: new Float32Array(16_000), sampleRate: 16_000, atMs: 0 }, undefined],
    ] as const)('the turn detector returns a probability for %s', async (_name, turn, text) => {
      await using opened = await subject.open();
      const value = await asked(opened.engine, turn, text);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    });

    it('the turn detector answers several calls at a time', async () => {
      await using opened = await subject.open();
      const values = await Promise.all([1, 2, 3].map(() => asked(opened.engine, sigh(), 'Good evening.')));
      expect(new Set(values).size).toBe(1);
    });

    it('the turn detector throws the reason if it was aborted before', async () => {
      await using opened = await subject.open();
      const signal = AbortSignal.abort(reason);
      await expect(opened.engine.endOfTurnProbability(sigh(), { signal })).rejects.toBe(reason);
    });
  });
}
