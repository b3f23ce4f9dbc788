import * as fc from '../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import {
  isOpusHeader,
  OggFormatError,
  OggReader,
  openOggOpusWriter,
  opusHeadSkip,
} from '../../../voices/dsp/ogg-opus.ts';

function packetsOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const reader = new OggReader();
  const packets: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    packets.push(...reader.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return packets;
}

describe('Ogg Opus stream', () => {
  it('the Ogg stream returns its packets, of any length, however its bytes are cut', () => {
    const packet = fc.uint8Array({ minLength: 1, maxLength: 1_300 });
    const pages = fc.array(fc.array(packet, { minLength: 1, maxLength: 5 }), { maxLength: 5 });
    fc.assert(
      fc.property(pages, fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 }), (given, sizes) => {
        const writer = openOggOpusWriter(24_000, 156);
        const bytes = Buffer.concat([writer.head(), ...given.map((packets) => writer.page(packets, 20))]);
        const [head, tags, ...rest] = packetsOf(bytes, sizes);
        expect(head).toBeDefined();
        expect(opusHeadSkip(head as Buffer)).toBe(312);
        expect(isOpusHeader(tags as Buffer)).toBe(true);
        expect(rest.map((each) => [...each])).toEqual(given.flat().map((each) => [...each]));
      }),
      { numRuns: 60 },
    );
  });

  it('the Ogg stream counts its pages, and its time at 48 kHz', () => {
    const writer = openOggOpusWriter(24_000, 0);
    writer.head();
    const packet = Uint8Array.of(1, 2, 3);
    const [one, two] = [writer.page([packet, packet], 20), writer.page([packet], 20)];
    expect([one, two].map((page) => [page.readUInt32LE(18), page.readBigUInt64LE(6)])).toEqual([
      [2, 1_920n],
      [3, 2_880n],
    ]);
  });

  it('an Ogg packet that continues over pages is joined', () => {
    const writer = openOggOpusWriter(24_000, 0);
    const long = Buffer.alloc(510, 7);
    const page = writer.page([long], 20);
    // Without the empty last segment the packet continues on the next page.
    const [first, rest] = [withLacing(page, [255, 255], 0), withLacing(writer.page([Buffer.of(9)], 20), [1], 1)];
    expect(packetsOf(Buffer.concat([first, rest]), [1_000])).toEqual([Buffer.concat([long, Buffer.of(9)])]);
  });

  it.each([
    ['something else', Buffer.from('{"type":"audio"}')],
    ['a page with a wrong byte', damaged(openOggOpusWriter(24_000, 0).page([Uint8Array.of(1, 2, 3, 4)], 20))],
    ['something else behind a page', Buffer.concat([openOggOpusWriter(24_000, 0).head(), Buffer.from('RIFF')])],
  ])('an Ogg Opus stream is told from %s', (_name, bytes) => {
    expect(() => packetsOf(bytes, [5])).toThrow(OggFormatError);
  });

  it('the head of an Ogg Opus stream states the samples to skip', () => {
    const head = Buffer.from('4f707573486561640101380180bb0000000000', 'hex');
    expect([opusHeadSkip(head), isOpusHeader(head), isOpusHeader(Buffer.from('OpusTags...'))]).toEqual([
      312,
      true,
      true,
    ]);
    expect([opusHeadSkip(Buffer.of(1)), isOpusHeader(Buffer.of(1))]).toEqual([undefined, false]);
  });
});

function damaged(page: Buffer): Buffer {
  const changed = Buffer.from(page);
  changed[changed.length - 1] = 99;
  return changed;
}

/** The same page with another lacing and flags, and its checksum recomputed. */
function withLacing(page: Buffer, lacing: readonly number[], flags: number): Buffer {
  const body = page.subarray(27 + page.readUInt8(26));
  const bytes = Buffer.concat([page.subarray(0, 26), Buffer.from([lacing.length, ...lacing]), body]);
  bytes.writeUInt8(flags, 5);
  bytes.writeUInt32LE(0, 22);
  bytes.writeUInt32LE(slowChecksum(bytes), 22);
  return bytes;
}

/** RFC 3533: polynomial 0x04c11db7, from 0, bit by bit. */
function slowChecksum(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const carry = ((value >>> 31) ^ (byte >>> bit)) & 1;
      value = ((value << 1) ^ (carry === 1 ? 0x04_c1_1d_b7 : 0)) >>> 0;
    }
  }
  return value;
}
