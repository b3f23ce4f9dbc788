import { describe, expect, it } from 'vitest';
import { SpeechPiece } from '../../../voices/recognition/speech-piece.ts';

/** One window of a given loudness. */
function window(level: number, samples = 512): Float32Array {
  return new Float32Array(samples).fill(level);
}

function push(piece: SpeechPiece, windows: number, level: number, voiced?: boolean): void {
  for (let index = 0; index < windows; index += 1) piece.push(window(level), voiced);
}

describe('SpeechPiece', () => {
  it('a speech piece keeps 288 ms on either side of the speech', () => {
    const piece = new SpeechPiece();
    push(piece, 40, 0.001, false);
    push(piece, 10, 0.1, true);
    push(piece, 40, 0.001, false);
    expect(piece.speech()).toHaveLength((9 + 10 + 9) * 512);
    expect(piece.speech()[9 * 512]).toBeCloseTo(0.1);
    expect(piece.voicedMs).toBe(320);
    expect(piece.silentMs).toBe(40 * 32);
  });

  it('a speech piece drops the silence before the pre-roll', () => {
    const piece = new SpeechPiece();
    push(piece, 10_000, 0.001, false);
    expect(piece.durationMs).toBeLessThanOrEqual(288);
  });

  it('a voiced flag on digital silence is not believed', () => {
    const piece = new SpeechPiece();
    push(piece, 20, 0, true);
    push(piece, 20, Number.NaN, true);
    expect(piece.voicedMs).toBe(0);
  });

  it('loudness replaces a missing VAD flag', () => {
    const piece = new SpeechPiece();
    push(piece, 5, 0.0001);
    push(piece, 5, 0.2);
    push(piece, 5, 0.002);
    expect(piece.voicedMs).toBe(5 * 32);
    expect(piece.silentMs).toBe(5 * 32);
  });

  it('blocks of any length become windows, voiced if any part of them is', () => {
    const piece = new SpeechPiece();
    piece.push(window(0.1, 500), false);
    piece.push(window(0.1, 12), true);
    for (let index = 0; index < 8; index += 1) piece.push(window(0.1, 160), true);
    piece.push(window(0.1, 10), false);
    piece.flush();
    expect(piece.voicedMs).toBe(4 * 32);
    expect(piece.speech()).toHaveLength(512 + 8 * 160 + 10);
  });

  it('a speech piece is cut in the longest pause of its later part', () => {
    const piece = new SpeechPiece();
    push(piece, 600, 0.1, true);
    push(piece, 20, 0.001, false);
    push(piece, 200, 0.1, true);
    const first = piece.takeFirst();
    expect(first.length / 512).toBeGreaterThanOrEqual(600);
    expect(first.length / 512).toBeLessThanOrEqual(620);
    expect(piece.voicedMs).toBe(200 * 32);
  });

  it('a speech piece without a pause is cut at its quietest point', () => {
    const piece = new SpeechPiece();
    push(piece, 700, 0.1, true);
    push(piece, 5, 0.03, true);
    push(piece, 100, 0.1, true);
    const cut = piece.takeFirst().length / 512;
    expect(cut).toBeGreaterThanOrEqual(700);
    expect(cut).toBeLessThanOrEqual(705);
  });

  it('the silence after a cut is the margin of the next speech piece', () => {
    const piece = new SpeechPiece();
    push(piece, 10, 0.1, true);
    push(piece, 30, 0.001, false);
    piece.clear();
    expect(piece.voicedMs).toBe(0);
    push(piece, 10, 0.1, true);
    expect(piece.speech()).toHaveLength((9 + 10) * 512);
  });
});
