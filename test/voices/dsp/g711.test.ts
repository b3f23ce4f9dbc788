import { execFileSync } from 'node:child_process';
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { describe, expect, it } from 'vitest';
import { floatsFromG711, g711FromFloats, type G711Law } from '../../../voices/dsp/g711.ts';

const laws: readonly G711Law[] = ['mulaw', 'alaw'];
const everyCode = Uint8Array.from({ length: 256 }, (_, code) => code);

/** Signal-to-noise ratio in decibels of a sine after a round trip. */
function signalToNoise(level: number, law: G711Law): number {
  const sine = Float32Array.from(
    { length: 8_000 },
    (_, index) => level * Math.sin((2 * Math.PI * 1_020 * index) / 8_000),
  );
  const back = floatsFromG711(g711FromFloats(sine, law), law);
  const power = (samples: Float32Array): number => samples.reduce((sum, sample) => sum + sample * sample, 0);
  const noise = back.map((sample, index) => sample - (sine[index] ?? 0));
  return 10 * Math.log10(power(sine) / power(noise));
}

describe('G.711', () => {
  it('G.711 has the codes of the recommendation for silence and for full scale', () => {
    const samples = Float32Array.from([0, 1, -1]);
    expect([...g711FromFloats(samples, 'mulaw')]).toEqual([0xff, 0x80, 0x00]);
    expect([...g711FromFloats(samples, 'alaw')]).toEqual([0xd5, 0xaa, 0x2a]);
  });

  it('G.711 decodes known codes to known levels', () => {
    const pcm = (codes: readonly number[], law: G711Law): number[] =>
      [...floatsFromG711(Uint8Array.from(codes), law)].map((sample) => sample * 32_768);
    expect(pcm([0xff, 0x80, 0x00, 0xf0, 0x70], 'mulaw')).toEqual([0, 32_124, -32_124, 120, -120]);
    expect(pcm([0xd5, 0x55, 0xaa, 0x2a, 0x80, 0x00], 'alaw')).toEqual([8, -8, 32_256, -32_256, 5_504, -5_504]);
  });

  it.each(laws)('G.711 decodes every code of %s as ffmpeg does', (law) => {
    const format = ['-ar', '8000', '-ac', '1'];
    const pcm = execFileSync(ffmpeg.path, ['-v', 'error', '-f', law, ...format, '-i', '-', '-f', 's16le', '-'], {
      input: everyCode,
    });
    const ours = floatsFromG711(everyCode, law);
    expect([...ours].map((sample) => sample * 32_768)).toEqual([...everyCode].map((code) => pcm.readInt16LE(code * 2)));
  });

  it.each(laws)('every G.711 code of %s survives a round trip, except for the second zero', (law) => {
    const back = g711FromFloats(floatsFromG711(everyCode, law), law);
    // µ-law's 0x7f is minus zero, which no integer can hold.
    expect([...back]).toEqual([...everyCode].map((code) => (law === 'mulaw' && code === 0x7f ? 0xff : code)));
  });

  it.each(laws)('G.711 keeps the signal-to-noise ratio of G.712 with %s at loud and soft levels', (law) => {
    for (const level of [0.7, 0.2, 0.05, 0.02]) expect(signalToNoise(level, law), `level ${level}`).toBeGreaterThan(33);
  });

  it.each(laws)('samples beyond full scale are clipped and NaN becomes silence, in %s', (law) => {
    const [loud, soft, none] = g711FromFloats(Float32Array.from([7, -7, Number.NaN]), law);
    const [loudest, softest, silence] = g711FromFloats(Float32Array.from([1, -1, 0]), law);
    expect([loud, soft, none]).toEqual([loudest, softest, silence]);
  });
});
