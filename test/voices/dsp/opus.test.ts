import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { concatSamples } from '../../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder, opusFrameMs, type OpusSampleRate } from '../../../voices/dsp/opus.ts';
import { signalToNoise, voiceLike } from '../../fakes/voice-like.ts';

function framesOf(samples: Float32Array, frameSamples: number): Float32Array[] {
  return Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, index) =>
    samples.subarray(index * frameSamples, (index + 1) * frameSamples),
  );
}

const energy = (samples: Float32Array): number =>
  samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;

async function throughOpus(
  sound: Float32Array,
  encodeRate: OpusSampleRate,
  decodeRate: OpusSampleRate,
  isLost: (index: number) => boolean = () => false,
): Promise<{ decoded: Float32Array; packets: Uint8Array[] }> {
  const encoder = await openOpusEncoder(encodeRate);
  const decoder = await openOpusDecoder(decodeRate);
  const packets = framesOf(sound, encoder.frameSamples).map((frame) => encoder.encode(frame));
  const decoded = packets.map((packet, index) =>
    isLost(index) ? decoder.conceal(packets[index + 1]) : decoder.decode(packet),
  );
  encoder.close();
  decoder.close();
  return { decoded: concatSamples(decoded), packets };
}

describe('Opus', () => {
  it.each([24_000, 48_000] as const)(
    'Opus carries a voice at %i Hz in a twentieth of the bytes',
    async (sampleRate) => {
      const sound = voiceLike(2_000, sampleRate);
      const { decoded, packets } = await throughOpus(sound, sampleRate, sampleRate);
      expect(decoded).toHaveLength(sound.length);
      expect(signalToNoise(sound, decoded, sampleRate / 50)).toBeGreaterThan(20);
      expect(energy(decoded) / energy(sound)).toBeGreaterThan(0.8);
      expect(energy(decoded) / energy(sound)).toBeLessThan(1.2);
      const bytes = packets.reduce((sum, packet) => sum + packet.length, 0);
      expect((bytes * 8) / 2).toBeLessThan(60_000);
    },
  );

  it('Opus decodes at another rate than it was encoded at', async () => {
    const sound = voiceLike(1_000, 48_000);
    const { decoded } = await throughOpus(sound, 48_000, 16_000);
    expect(decoded).toHaveLength(16_000);
    expect(energy(decoded) / energy(sound)).toBeGreaterThan(0.7);
  });

  it('Opus conceals lost packets with plausible speech', async () => {
    const sound = voiceLike(2_000, 24_000);
    const isLost = (index: number): boolean => index > 5 && index % 10 === 0;
    const whole = await throughOpus(sound, 24_000, 24_000);
    const { decoded } = await throughOpus(sound, 24_000, 24_000, isLost);
    expect(decoded).toHaveLength(sound.length);
    const frameSamples = (24_000 * opusFrameMs) / 1000;
    const expected = framesOf(whole.decoded, frameSamples);
    const ratios = framesOf(decoded, frameSamples).flatMap((frame, index) =>
      isLost(index) ? [energy(frame) / energy(expected[index] ?? frame)] : [],
    );
    expect(ratios).toHaveLength(9);
    for (const ratio of ratios) expect(Math.abs(Math.log2(ratio))).toBeLessThan(3);
    expect(signalToNoise(sound, decoded, 480)).toBeGreaterThan(10);
  });

  it('Opus falls silent when every packet is lost, and never fails', async () => {
    const encoder = await openOpusEncoder(24_000);
    const decoder = await openOpusDecoder(24_000);
    for (const frame of framesOf(voiceLike(400, 24_000), encoder.frameSamples)) decoder.decode(encoder.encode(frame));
    let last = new Float32Array(0);
    for (let index = 0; index < 50; index += 1) last = Float32Array.from(decoder.conceal());
    expect(last).toHaveLength(480);
    expect(energy(last)).toBeLessThan(1e-4);
    encoder.close();
    decoder.close();
  });

  it('Opus accepts any bytes as a packet', async () => {
    const decoder = await openOpusDecoder(24_000);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const samples = decoder.decode(bytes);
        expect(samples.length).toBeGreaterThan(0);
        expect(samples.length).toBeLessThanOrEqual((24_000 * 120) / 1000);
        expect(samples.every((sample) => Number.isFinite(sample))).toBe(true);
        expect(decoder.conceal(bytes).every((sample) => Number.isFinite(sample))).toBe(true);
      }),
      { numRuns: 500 },
    );
    decoder.close();
  });

  it('closing an Opus codec frees its memory', async () => {
    const cycle = async (count: number): Promise<void> => {
      const frame = voiceLike(20, 24_000);
      for (let index = 0; index < count; index += 1) {
        const encoder = await openOpusEncoder(24_000);
        const decoder = await openOpusDecoder(24_000);
        decoder.decode(encoder.encode(frame));
        encoder.close();
        decoder.close();
      }
    };
    await cycle(50);
    const before = process.memoryUsage().external;
    await cycle(1_000);
    // A thousand unreleased pairs would take more than 40 MiB.
    expect(process.memoryUsage().external - before).toBeLessThan(8 * 1024 * 1024);
  });

  it('a closed Opus codec cannot be used', async () => {
    const encoder = await openOpusEncoder(24_000);
    encoder.close();
    encoder.close();
    expect(() => encoder.encode(new Float32Array(480))).toThrow();
  });
});
