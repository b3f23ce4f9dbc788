import {
  array,
  assert,
  boolean,
  constantFrom,
  dictionary,
  double,
  property,
  record,
  tuple,
} from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import {
  latencyComponents,
  shareOut,
  type LatencyComponent,
  type LatencyBreakdown,
  TurnTimings,
  type Latency,
} from '../../../server/session/contract/turn-timings.ts';
import { ManualClock } from '../../fakes/clock.ts';

/** Tenths of a millisecond, so that sums are exact. */
const tenthsOf = (ms: number): number => Math.round(ms * 10);
const sumOf = (shares: LatencyBreakdown): number =>
  latencyComponents.reduce((sum, owner) => sum + tenthsOf(shares[owner] ?? 0), 0);

/** A trace whose stages are marked at these times, in milliseconds since `startMs`. */
function traceOf(turn: {
  readonly startMs: number;
  readonly speech: boolean;
  readonly marks: readonly (readonly [Parameters<TurnTimings['mark']>[0], number])[];
  readonly decidedFromMs?: number;
  readonly silenceMs?: number;
  readonly nowMs: number;
}): Latency {
  let nowMs = turn.startMs;
  const trace = new TurnTimings({ now: () => nowMs });
  for (const [stage, atMs] of turn.marks) {
    nowMs = turn.startMs + atMs;
    trace.mark(stage);
  }
  const { decidedFromMs, silenceMs } = turn;
  if (turn.speech) {
    const endpointing =
      decidedFromMs === undefined || silenceMs === undefined
        ? undefined
        : { decidedFromMs: turn.startMs + decidedFromMs, silenceMs };
    trace.speechEnded(turn.startMs, endpointing);
  }
  nowMs = turn.startMs + turn.nowMs;
  return trace.latency();
}

describe('shareOut', () => {
  const time = double({ min: -5_000, max: 60_000, noNaN: true });

  it('splits latency into components that add up and are never negative', () => {
    const ends = dictionary(constantFrom(...latencyComponents), time, { minKeys: 1 });
    assert(
      property(ends, time, (some: Partial<Record<LatencyComponent, number>>, untilMs) => {
        const shares = shareOut(some, untilMs);
        expect(sumOf(shares)).toBe(Math.max(0, Math.round(untilMs * 10)));
        for (const owner of latencyComponents) {
          expect(shares[owner] === null).toBe(some[owner] === undefined);
          expect(shares[owner] ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it('gives a component nothing that finished before the one ahead of it', () => {
    const shares = shareOut({ silence: 300, recognizer: 120, mind: 80, synthesizer: 340, pacing: 350 }, 350);
    expect(shares).toMatchObject({ silence: 300, recognizer: 0, mind: 0, synthesizer: 40, pacing: 10, delivery: null });
  });
});

describe('TurnTimings', () => {
  const stages = [
    'endpoint',
    'transcript',
    'asked',
    'first_token',
    'first_phrase',
    'first_speech',
    'first_audio',
  ] as const;
  const time = double({ min: -2_000, max: 30_000, noNaN: true });

  it('splits the whole time to the first audio, for any stages marked in any order', () => {
    const turn = record({
      startMs: double({ min: 0, max: 1e9, noNaN: true }),
      speech: boolean(),
      marks: array(tuple(constantFrom(...stages, 'heard' as const), time)),
      decidedFromMs: time,
      silenceMs: double({ min: 0, max: 5_000, noNaN: true }),
      nowMs: time,
    });
    assert(
      property(turn, (some) => {
        const latency = traceOf(some);
        expect(sumOf(latency.owners)).toBe(tenthsOf(latency.total_ms));
        for (const owner of latencyComponents) expect(latency.owners[owner] ?? 0).toBeGreaterThanOrEqual(0);
        const wholeMs =
          latency.first_audio_ms === null ? undefined : Math.max(latency.first_audio_ms, latency.heard_ms ?? 0);
        if (wholeMs !== undefined) expect(latency.total_ms).toBeCloseTo(Math.max(0, wholeMs), 6);
      }),
      { numRuns: 500 },
    );
  });

  it('separates late audio from silence waited for and from VAD time', () => {
    const marks = [
      ['endpoint', 610],
      ['transcript', 615],
      ['asked', 615],
    ] as const;
    const { owners: shares } = traceOf({
      startMs: 0,
      speech: true,
      marks,
      decidedFromMs: 590,
      silenceMs: 500,
      nowMs: 700,
    });
    expect(shares).toMatchObject({
      arrival: 90,
      silence: 500,
      vad: 20,
      recognizer: 5,
      client: 0,
      mind: 85,
      phrase: null,
    });
  });

  it('counts silence that arrived faster than real time as silence', () => {
    const { owners: shares } = traceOf({
      startMs: 0,
      speech: true,
      marks: [['endpoint', 30]],
      decidedFromMs: 20,
      silenceMs: 500,
      nowMs: 30,
    });
    expect(shares).toMatchObject({ arrival: 0, silence: 20, vad: 10, recognizer: 0 });
  });

  it('attributes the wait of a failed turn to the component that was running', () => {
    const atWork = (
      marks: readonly (readonly [(typeof stages)[number], number])[],
      speech = true,
    ): LatencyComponent | undefined => {
      const { owners: shares } = traceOf({ startMs: 0, speech, marks, nowMs: 1_000 });
      return latencyComponents.find((owner) => (shares[owner] ?? 0) > 900);
    };
    const spoken = [
      ['endpoint', 1],
      ['asked', 2],
    ] as const;
    expect(atWork(spoken)).toBe('recognizer');
    expect(atWork([...spoken, ['transcript', 3]])).toBe('mind');
    expect(atWork([['asked', 0]], false)).toBe('mind');
    expect(atWork([...spoken, ['transcript', 3], ['first_token', 4]])).toBe('phrase');
    expect(atWork([...spoken, ['transcript', 3], ['first_token', 4], ['first_phrase', 5]])).toBe('synthesizer');
  });

  it('measures from any start time of the clock', async () => {
    const clock = new ManualClock();
    await clock.advance(5_000);
    const trace = new TurnTimings(clock);
    await clock.advance(40);
    trace.mark('first_audio');
    expect(trace.latency()).toMatchObject({ first_audio_ms: 40, total_ms: 40, owners: { pacing: 40 } });
  });
});
