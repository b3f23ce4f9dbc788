import { pcm16FromFloats } from '../../voices/audio.ts';
import { tone } from './vad.ts';

/** Audio for a text, as sent by an in-test server: 60 ms of a tone per word, 16-bit little-endian. */
export function pcmOf(text: string, sampleRate: number): Buffer {
  return pcm16FromFloats(tone(60 * text.split(/\s+/).length + 60, sampleRate));
}

/**
 * A WAV header as servers write it: with the true length, none (0), or all ones; optionally with a LIST chunk before
 * the data.
 */
export function wavHeader(
  sampleRate: number,
  { dataBytes = 0xff_ff_ff_ff, list = false }: { readonly dataBytes?: number; readonly list?: boolean } = {},
): Buffer {
  const before = Buffer.alloc(36);
  before.write('RIFF', 0, 'latin1');
  before.writeUInt32LE(dataBytes > 0xff_ff_ff_00 ? dataBytes : dataBytes + 36, 4);
  before.write('WAVEfmt ', 8, 'latin1');
  before.writeUInt32LE(16, 16);
  before.writeUInt16LE(1, 20);
  before.writeUInt16LE(1, 22);
  before.writeUInt32LE(sampleRate, 24);
  before.writeUInt32LE(sampleRate * 2, 28);
  before.writeUInt16LE(2, 32);
  before.writeUInt16LE(16, 34);
  const info = Buffer.alloc(list ? 34 : 0);
  if (list) {
    info.write('LIST', 0, 'latin1');
    info.writeUInt32LE(26, 4);
    info.write('INFOISFTLavf61.1', 8, 'latin1');
  }
  const data = Buffer.alloc(8);
  data.write('data', 0, 'latin1');
  data.writeUInt32LE(dataBytes, 4);
  return Buffer.concat([before, info, data]);
}

/** A complete WAV. */
export function wavOf(text: string, sampleRate: number): Buffer {
  const pcm = pcmOf(text, sampleRate);
  return Buffer.concat([wavHeader(sampleRate, { dataBytes: pcm.length }), pcm]);
}
