import { assert, constantFrom, property, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pcmFormat } from '../../server/realtime/audio-format.ts';
import { samplesFromBase64 } from '../../server/realtime/wire-items.ts';
import { floatsFromPcm16 } from '../../voices/audio.ts';

describe('sound in base64', () => {
  it('is what it was, padded or not', () => {
    assert(
      property(uint8Array({ maxLength: 40 }), (bytes) => {
        const whole = bytes.subarray(0, bytes.length & ~1);
        const text = Buffer.from(whole).toString('base64');
        expect(samplesFromBase64(text, pcmFormat)).toEqual(floatsFromPcm16(whole));
        expect(samplesFromBase64(text.replaceAll('=', ''), pcmFormat)).toEqual(floatsFromPcm16(whole));
      }),
    );
  });

  it('is refused where a single character is no base64, and nowhere else', () => {
    const pattern = /^[A-Za-z0-9+/]*={0,2}$/;
    const unit = constantFrom(...'AZaz09+/=-_ \n.éŁ\0'.split(''));
    assert(
      property(string({ unit, maxLength: 12 }), (text) => {
        const bytes = Buffer.from(text, 'base64');
        const isSound = pattern.test(text) && text.length % 4 !== 1 && bytes.length % 2 === 0;
        expect(samplesFromBase64(text, pcmFormat) !== undefined).toBe(isSound);
      }),
      { numRuns: 2_000 },
    );
  });
});
