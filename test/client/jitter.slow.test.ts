import { describe, expect, it } from 'vitest';
import { PlaybackQueue } from '../../server/client/audio/playback-queue.js';
import { seededRandom } from '../../eval/statistics.ts';

const samplesPerMs = 24;
const blockSamples = 128;
const pieceMs = 60;

interface Network {
  readonly jitterMs: number;
  /** Share of the pieces that are late by `stallMs` more. */
  readonly stallShare: number;
  readonly stallMs: number;
}

interface Heard {
  /** From the arrival of the first piece to its first sample. */
  readonly delayMs: number;
  /** Silence inside the reply. */
  readonly gapMs: number;
}

/**
 * Plays replies of three to six seconds in simulated time. The server sends pieces as far as 400 ms ahead of real time,
 * and `pauseMs` of thinking after every second of speech; the network keeps their order.
 */
function listen(options: { replies: number; seed: number; network: Network; pauseMs?: number }): Heard[] {
  const { replies, seed, network, pauseMs = 0 } = options;
  const random = seededRandom(seed);
  const queue = new PlaybackQueue();
  const block = new Float32Array(blockSamples);
  let rendered = 0;
  return Array.from({ length: replies }, (_, reply) => {
    const count = Math.round((3_000 + random() * 3_000) / pieceMs);
    const startMs = rendered / samplesPerMs + 500;
    const arrivals = arrivalsOf(count, startMs, pauseMs, network, random);
    const itemId = `item-${reply}`;
    let next = 0;
    let firstMs: number | undefined;
    let lastMs = 0;
    for (let hasEnded = false; !hasEnded;) {
      const nowMs = rendered / samplesPerMs;
      while (next < count && (arrivals[next]?.atMs ?? Infinity) <= nowMs) {
        const samples = new Float32Array(pieceMs * samplesPerMs).fill(0.5);
        queue.push(itemId, samples, (arrivals[next]?.sentLateMs ?? 0) * samplesPerMs);
        next += 1;
        if (next === count) queue.complete(itemId);
      }
      hasEnded = queue.render(block).ended.includes(itemId);
      rendered += blockSamples;
      const first = block.findIndex((sample) => sample !== 0);
      const last = block.findLastIndex((sample) => sample !== 0);
      if (first < 0) continue;
      firstMs ??= nowMs + first / samplesPerMs;
      lastMs = nowMs + (last + 1) / samplesPerMs;
    }
    const beganMs = firstMs ?? 0;
    return { delayMs: beganMs - (arrivals[0]?.atMs ?? 0), gapMs: lastMs - beganMs - count * pieceMs };
  });
}

function arrivalsOf(count: number, startMs: number, pauseMs: number, network: Network, random: () => number) {
  let sentMs = startMs;
  let baseMs = startMs;
  let arrivedMs = 0;
  return Array.from({ length: count }, (_, piece) => {
    if (piece > 0 && (piece * pieceMs) % 1_000 < pieceMs) sentMs += pauseMs;
    sentMs = Math.max(sentMs, baseMs + (piece + 1) * pieceMs - 400);
    // Like the server: audio that fell behind real time starts a new count.
    baseMs = Math.max(baseMs, sentMs - piece * pieceMs);
    const stalls = random() < network.stallShare;
    const lateMs = 40 + random() * network.jitterMs + (stalls ? network.stallMs : 0);
    arrivedMs = Math.max(arrivedMs, sentMs + lateMs);
    return { atMs: arrivedMs, sentLateMs: baseMs - startMs };
  });
}

/** The longest gap in replies from this one on. */
function worstGap(heard: readonly Heard[], from: number): number {
  return Math.max(...heard.slice(from).map(({ gapMs }) => gapMs));
}

const bad: Network = { jitterMs: 300, stallShare: 0.05, stallMs: 400 };
const good: Network = { jitterMs: 20, stallShare: 0, stallMs: 0 };

describe('PlaybackQueue', () => {
  it('plays without gaps under 300 ms of jitter and 5 % stalls after a few replies', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const heard = listen({ replies: 40, seed, network: bad });
      expect(worstGap(heard, 0), `seed ${seed}, before`).toBeGreaterThan(0);
      expect(worstGap(heard, 8), `seed ${seed}, after`).toBeLessThan(1);
    }
  });

  it('adds no playback delay on a good network', () => {
    const heard = listen({ replies: 10, seed: 1, network: good });
    expect(Math.max(...heard.map(({ delayMs }) => delayMs))).toBeLessThan(10);
    expect(worstGap(heard, 0)).toBeLessThan(1);
  });

  it('adds no playback delay to later replies if only the LLM pauses', () => {
    const heard = listen({ replies: 10, seed: 1, network: good, pauseMs: 600 });
    expect(Math.max(...heard.map(({ delayMs }) => delayMs))).toBeLessThan(10);
  });

  it('drops the playback delay again after the network has been good for a while', () => {
    const queue = new PlaybackQueue();
    const block = new Float32Array(blockSamples);
    const render = (ms: number): void => {
      for (let left = ms * samplesPerMs; left > 0; left -= blockSamples) queue.render(block);
    };
    const waitOf = (itemId: string): number => {
      queue.push(itemId, new Float32Array(10 * blockSamples).fill(0.5));
      for (let waited = 0; ; waited += blockSamples) {
        if (queue.render(block).onsets.length > 0) return waited / samplesPerMs;
      }
    };
    queue.push('late', new Float32Array(2_400).fill(0.5));
    render(500);
    queue.push('late', new Float32Array(2_400).fill(0.5));
    queue.complete('late');
    render(200);
    expect(waitOf('after')).toBeGreaterThan(400);
    queue.complete('after');
    for (let second = 0; second < 65; second += 1) queue.push('long', new Float32Array(24_000).fill(0.5));
    queue.complete('long');
    render(70_000);
    expect(waitOf('later')).toBe(0);
  });

  it('does not delay the reply after a single outage', () => {
    const queue = new PlaybackQueue();
    const block = new Float32Array(blockSamples);
    queue.push('first', new Float32Array(2_400).fill(0.5));
    for (let block2 = 0; block2 < 1_000; block2 += 1) queue.render(block);
    queue.push('first', new Float32Array(2_400).fill(0.5));
    queue.complete('first');
    for (let block2 = 0; block2 < 40; block2 += 1) queue.render(block);
    queue.push('second', new Float32Array(2_400).fill(0.5));
    expect(queue.render(block).onsets).toEqual([{ itemId: 'second', offset: 0 }]);
  });
});
