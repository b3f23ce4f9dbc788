import { assert, constantFrom, oneof, property, string, uint8Array } from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { soundOfAppend, pcmFormat } from '../../../server/realtime/audio-format.ts';
import { samplesFromBase64 } from '../../../server/realtime/encode.ts';
import { floatsFromPcm16 } from '../../../voices/audio.ts';

describe('base64 audio', () => {
  it('decodes base64 audio with and without padding', () => {
    assert(
      property(uint8Array({ maxLength: 40 }), (bytes) => {
        const whole = bytes.subarray(0, bytes.length & ~1);
        const text = Buffer.from(whole).toString('base64');
        expect(samplesFromBase64(text, pcmFormat)).toEqual(floatsFromPcm16(whole));
        expect(samplesFromBase64(text.replaceAll('=', ''), pcmFormat)).toEqual(floatsFromPcm16(whole));
      }),
    );
  });

  it('rejects base64 audio with an invalid character or half a sample', () => {
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

  it('reads audio directly from a plain append frame with the same result as parsing it', () => {
    const unit = constantFrom(...'AZaz09+/=-_ \n"\\é'.split(''));
    const sound = oneof(
      string({ unit, maxLength: 12 }),
      uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    );
    const spaces = constantFrom('', ' ');
    assert(
      property(sound, spaces, (audio, space) => {
        const event = `{"type":${space}"input_audio_buffer.append",${space}"audio":${space}"${audio}"}`;
        const plain = soundOfAppend(Buffer.from(event), pcmFormat);
        if (plain !== undefined) expect(plain).toEqual(samplesFromBase64(audio, pcmFormat));
        const isPlain = /^[A-Za-z0-9+/]*={0,2}$/.test(audio) && audio.length % 4 === 0;
        if (isPlain) expect(plain).toEqual(samplesFromBase64(audio, pcmFormat));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads no audio directly from any other frame', () => {
    const append = JSON.stringify({ type: 'input_audio_buffer.append', audio: 'AAAAAAAA' });
    expect(soundOfAppend(Buffer.from(append), pcmFormat)).toHaveLength(3);
    const others = ['', '{}', '"}', append.slice(0, -1), `${append} `, append.replace('"}', '","x_seq":"3"}')];
    for (const frame of others) expect(soundOfAppend(Buffer.from(frame), pcmFormat)).toBeUndefined();
    expect(soundOfAppend(Buffer.from(append.replace('AAAA', 'A'.repeat(80_000))), pcmFormat)).toBeUndefined();
  });
});
