import * as fc from '../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { concatSamples, durationMs, floatsFromPcm16, pcm16FromFloats, Rechunker } from '../../voices/audio.ts';

const anySamples = fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 300 });

describe('audio', () => {
  it('the duration of a frame follows from its samples and rate', () => {
    expect(durationMs({ samples: new Float32Array(512), sampleRate: 16_000, atMs: 7 })).toBe(32);
  });

  it('16-bit PCM survives the way to floats and back unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -32_768, max: 32_767 })), (values) => {
        const bytes = Buffer.alloc(values.length * 2);
        for (const [index, value] of values.entries()) bytes.writeInt16LE(value, index * 2);
        expect(pcm16FromFloats(floatsFromPcm16(bytes))).toEqual(bytes);
      }),
    );
  });

  it('floats are rounded to the nearest 16-bit value', () => {
    fc.assert(
      fc.property(anySamples, (samples) => {
        const back = floatsFromPcm16(pcm16FromFloats(samples));
        for (const [index, value] of samples.entries()) {
          expect(Math.abs((back[index] as number) - value)).toBeLessThanOrEqual(1 / 32_768);
        }
      }),
    );
  });

  it('floats beyond full scale are clipped, and NaN becomes silence', () => {
    const bytes = pcm16FromFloats(
      Float32Array.of(2, -2, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
    );
    expect([0, 2, 4, 6, 8].map((offset) => bytes.readInt16LE(offset))).toEqual([32_767, -32_768, 0, 32_767, -32_768]);
  });

  it('an odd last byte is ignored, and bytes in the middle of a buffer are read', () => {
    const bytes = Buffer.from([9, 0, 0x40, 0, 0x80, 7]);
    expect([...floatsFromPcm16(bytes.subarray(1))]).toEqual([0.5, -1]);
    expect([...floatsFromPcm16(new Uint8Array([0]))]).toEqual([]);
  });

  it('blocks of samples are concatenated', () => {
    expect(concatSamples([])).toEqual(new Float32Array(0));
    expect(concatSamples([Float32Array.of(1, 2), new Float32Array(0), Float32Array.of(3)])).toEqual(
      Float32Array.of(1, 2, 3),
    );
  });

  it('a stream is rechunked into equal windows without loss', () => {
    fc.assert(
      fc.property(
        fc.array(anySamples, { maxLength: 10 }),
        fc.integer({ min: 1, max: 100 }),
        (blocks, windowSamples) => {
          const rechunker = new Rechunker(windowSamples);
          const windows = blocks.flatMap((block) => rechunker.push(block));
          for (const window of windows) expect(window).toHaveLength(windowSamples);
          const rest = rechunker.flush();
          expect(rest.length).toBeLessThan(windowSamples);
          expect(concatSamples([...windows, rest])).toEqual(concatSamples(blocks));
          expect(rechunker.flush()).toHaveLength(0);
        },
      ),
    );
  });
});
