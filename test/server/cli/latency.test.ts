import { describe, expect, it } from 'vitest';
import { measureTurns } from '../../../server/cli/latency/latency.ts';
import { latencyTable, summarizeLatency } from '../../../server/cli/latency/latency-table.ts';
import { spreadOf } from '../../../voices/dsp/statistics.ts';
import { waterfall } from '../../../server/terminal/waterfall.ts';
import {
  latencyComponents,
  shareOut,
  type LatencyComponent,
  type Latency,
} from '../../../server/session/contract/turn-timings.ts';
import { parts, withHeard } from '../../../server/web/talk/latency.js';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

/** A latency breakdown in which each component finished at these milliseconds. */
function ledger(ends: Partial<Record<LatencyComponent, number>>, sentMs: number): Latency {
  const totalMs = Math.max(sentMs, ends.delivery ?? 0);
  return {
    basis: 'speech_end',
    endpoint_ms: ends.vad ?? null,
    transcript_ms: ends.recognizer ?? null,
    first_token_ms: ends.mind ?? null,
    first_phrase_ms: ends.phrase ?? null,
    first_audio_ms: sentMs,
    heard_ms: ends.delivery ?? null,
    owners: shareOut({ ...ends, pacing: sentMs }, totalMs),
    total_ms: totalMs,
  };
}

const turn = ledger({ arrival: 20, silence: 500, vad: 503, recognizer: 503, mind: 540, synthesizer: 600 }, 600);

describe('waterfall', () => {
  it('draws each latency component from where the one before ended, and the total', () => {
    const lines = waterfall(turn, 60).split('\n');
    expect(lines.map((line) => line.slice(2, 18).trim())).toEqual([
      'uplink',
      'endpointing',
      'VAD',
      'ASR',
      'LLM',
      'TTS',
      'pacing',
      'total',
    ]);
    expect(lines.map((line) => /(\d+) ms$/.exec(line)?.[1])).toEqual(['20', '480', '3', '0', '37', '60', '0', '600']);
    const bars = lines.map((line) => [line.indexOf('█'), line.lastIndexOf('█')]);
    expect(bars[1]).toEqual([19 + 2, 19 + 49]);
    expect(bars[5]).toEqual([19 + 54, 19 + 59]);
    for (const line of waterfall(turn).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('latency on the page', () => {
  it('draws every millisecond of the latency once, up to the moment the client heard it', () => {
    const heard = withHeard(turn, 712);
    const drawn = parts(heard);
    expect(heard).toMatchObject({ heard_ms: 712, total_ms: 712, owners: { delivery: 112, mind: 37 } });
    let reachedMs = 0;
    for (const { fromMs, ms } of drawn) {
      expect(fromMs).toBeCloseTo(reachedMs, 6);
      reachedMs = fromMs + ms;
    }
    expect(reachedMs).toBeCloseTo(712, 6);
    expect(drawn.map(({ name }) => name)).toEqual(['uplink', 'endpointing', 'vad', 'llm', 'tts', 'network']);
  });

  it('never counts a negative delivery time, and none if the client heard nothing', () => {
    expect(withHeard(turn, 580)).toMatchObject({ total_ms: 600, owners: { delivery: 0 } });
    expect(withHeard(withHeard(turn, 712), null)).toMatchObject({ total_ms: 600, owners: { delivery: null } });
  });
});

describe('latency table', () => {
  it('lists median and percentiles of each latency component in the order of a turn within 80 columns', () => {
    const other = ledger({ silence: 50_000, vad: 50_000, recognizer: 50_100, mind: 99_000, delivery: 99_999 }, 99_500);
    const summary = summarizeLatency([turn, other, other]);
    expect(summary.owners.silence).toEqual({ n: 3, median: 50_000, p95: 50_000, p99: 50_000 });
    expect(summary.owners.arrival).toEqual({ n: 1, median: 20, p95: 20, p99: 20 });
    expect(summary.owners.client).toBeUndefined();
    expect(Object.keys(summary.owners)).toEqual(latencyComponents.filter((owner) => owner in summary.owners));
    const lines = latencyTable(summary).split('\n');
    expect(lines).toHaveLength(2 + Object.keys(summary.owners).length);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines.at(-1)).toMatch(/^total +3 +99999 +99999 +99999$/);
  });

  it('computes percentiles by the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(spreadOf(hundred)).toEqual({ n: 100, median: 50, p95: 95, p99: 99 });
    expect(spreadOf([]).median).toBeNaN();
  });
});

describe('dramatis latency', () => {
  it('measures a complete latency breakdown for each turn after a warm-up turn', async () => {
    const says = ['One two three four five six seven eight nine ten eleven twelve.'];
    const server = await serve({ engines: fakeEngines({ says }) });
    const measured = await measureTurns({
      url: server.url,
      character: 'alice',
      recordings: [pcm16FromFloats(tone(80)), pcm16FromFloats(tone(120))],
      turns: 2,
      serverVad: false,
      signal: new AbortController().signal,
    });
    expect(measured).toMatchObject({ unanswered: 0, errors: [] });
    expect(measured.breakdowns).toHaveLength(2);
    for (const { owners: shares, total_ms: totalMs } of measured.breakdowns) {
      const sum = latencyComponents.reduce((tenths, owner) => tenths + Math.round((shares[owner] ?? 0) * 10), 0);
      expect(sum).toBe(Math.round(totalMs * 10));
      expect(shares.delivery).toBeTypeOf('number');
    }
  });
});
