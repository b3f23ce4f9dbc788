import { readFileSync } from 'node:fs';
import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { Rechunker } from '../../../voices/audio.ts';
import { createVadHysteresis, type SpeechEdge, type VadHysteresisPolicy } from '../../../voices/dsp/vad-hysteresis.ts';
import { openSilero } from '../../../voices/vads/silero.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';

const policy: VadHysteresisPolicy = { minSpeechMs: 0, minSilenceMs: 100, windowMs: 32 };

function run(probabilities: readonly number[], changes: Partial<VadHysteresisPolicy> = {}): SpeechEdge[] {
  const edges = createVadHysteresis({ ...policy, ...changes });
  return probabilities.map((probability) => edges.push(probability)).filter((edge) => edge !== undefined);
}

/** `'3s 2n'`: three windows of speech, two of silence; `m`: between the thresholds. */
function windows(text: string): number[] {
  const probabilities = { s: 0.9, m: 0.4, n: 0.1 };
  return text.split(' ').flatMap((part) => {
    const probability = probabilities[part.at(-1) as keyof typeof probabilities];
    return Array.from({ length: Number(part.slice(0, -1)) }, () => probability);
  });
}

describe('VAD hysteresis', () => {
  it('speech starts at its first window and ends at the first silent window', () => {
    expect(run(windows('2n 4s 5n'))).toEqual([
      { type: 'speech-start', atMs: 64 },
      { type: 'speech-end', atMs: 192 },
    ]);
  });

  it('silence shorter than the minimum does not end speech', () => {
    expect(run(windows('2s 4n 2s 4n 1s'))).toEqual([{ type: 'speech-start', atMs: 0 }]);
  });

  it('a speech start is reported only after the minimum of speech, with its true time', () => {
    const edges = createVadHysteresis({ ...policy, minSpeechMs: 90 });
    expect(edges.push(0.1)).toBeUndefined();
    expect(edges.push(0.9)).toBeUndefined();
    expect(edges.push(0.9)).toBeUndefined();
    expect(edges.speaking).toBe(false);
    expect(edges.push(0.9)).toEqual({ type: 'speech-start', atMs: 32 });
    expect(edges.speaking).toBe(true);
  });

  it('speech shorter than the minimum is ignored', () => {
    expect(run(windows('2s 1n 2s 1n 2s 1n'), { minSpeechMs: 96 })).toEqual([]);
  });

  it('probabilities between the two thresholds neither start nor end speech', () => {
    expect(run(windows('9m'))).toEqual([]);
    expect(run(windows('1s 20m'))).toEqual([{ type: 'speech-start', atMs: 0 }]);
    expect(run(windows('1s 1n 9m 1n'))).toEqual([
      { type: 'speech-start', atMs: 0 },
      { type: 'speech-end', atMs: 32 },
    ]);
  });

  it('speech ends at once if the minimum silence is zero', () => {
    expect(run(windows('1s 1n 1s 1n'), { minSilenceMs: 0 }).map((edge) => edge.atMs)).toEqual([0, 32, 64, 96]);
  });

  it('a probability of NaN counts as zero', () => {
    expect(run([Number.NaN, 0.9, Number.NaN])).toEqual([{ type: 'speech-start', atMs: 32 }]);
  });

  const anyPolicy = fc.record({
    minSpeechMs: fc.integer({ min: 0, max: 400 }),
    minSilenceMs: fc.integer({ min: 0, max: 400 }),
    windowMs: fc.constantFrom(16, 20, 32),
  });
  const anyWindows = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 });
  const longRuns = fc
    .array(fc.tuple(fc.constantFrom(0.1, 0.4, 0.9), fc.integer({ min: 1, max: 30 })), { maxLength: 20 })
    .map((runs) => runs.flatMap(([probability, count]) => Array.from({ length: count }, () => probability)));

  it('speech starts and ends alternate at past window borders, in order of time', () => {
    fc.assert(
      fc.property(anyPolicy, fc.oneof(anyWindows, longRuns), (settings, probabilities) => {
        const edges = createVadHysteresis(settings);
        let last: SpeechEdge = { type: 'speech-end', atMs: 0 };
        for (const [index, probability] of probabilities.entries()) {
          const edge = edges.push(probability);
          expect(edges.speaking).toBe((edge ?? last).type === 'speech-start');
          if (edge === undefined) continue;
          expect(edge.type).not.toBe(last.type);
          expect(edge.atMs).toBeGreaterThanOrEqual(last.atMs);
          expect(edge.atMs).toBeLessThanOrEqual(index * settings.windowMs);
          expect(edge.atMs % settings.windowMs).toBe(0);
          last = edge;
        }
      }),
    );
  });

  it('speech never starts or ends without the minimum of speech or silence', () => {
    fc.assert(
      fc.property(anyPolicy, fc.oneof(anyWindows, longRuns), (settings, probabilities) => {
        const edges = createVadHysteresis(settings);
        for (const [index, probability] of probabilities.entries()) {
          const edge = edges.push(probability);
          if (edge === undefined) continue;
          const since = edge.atMs / settings.windowMs;
          const run = probabilities.slice(since, index + 1);
          const lengthMs = run.length * settings.windowMs;
          const starts = edge.type === 'speech-start';
          expect(run[0]).toSatisfy((first: number) => (starts ? first >= 0.5 : first < 0.35));
          expect(run).toSatisfy(() => (starts ? Math.min(...run) >= 0.35 : Math.max(...run) < 0.5));
          expect(starts ? lengthMs : lengthMs - settings.windowMs).toBeGreaterThanOrEqual(
            starts ? settings.minSpeechMs : settings.minSilenceMs,
          );
        }
      }),
    );
  });

  it.skipIf(!sharedAvailable)(
    'over Silero, speech starts and ends equal those of Silero’s own iterator, sample for sample',
    async () => {
      const golden = JSON.parse(readFileSync(sharedPath('golden/silero_v6.2_vaditerator_events.json'), 'utf8')) as {
        params: { min_silence_ms: number; speech_pad_ms: number };
        events: Record<string, ({ start: number } | { end: number })[]>;
      };
      const silero = openSilero();
      for (const clip of ['jfk', 'aishell-BAC009S0724W0121']) {
        const { samples } = await readWav(sharedPath(`audio/${clip}.wav`));
        const stream = silero.open();
        const chunks = new Rechunker(silero.windowSamples).push(samples);
        const scores = await Promise.all(chunks.map((window) => stream.score(window)));
        const found = run(scores, { minSilenceMs: golden.params.min_silence_ms }).map((edge) => {
          const at = edge.atMs * 16;
          const pad = golden.params.speech_pad_ms * 16;
          return edge.type === 'speech-start' ? { start: Math.max(0, at - pad) } : { end: at + pad };
        });
        expect(found).toEqual(golden.events[clip]);
      }
      await silero.close();
    },
  );
});
