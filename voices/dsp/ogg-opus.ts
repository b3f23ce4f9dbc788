import { randomInt } from 'node:crypto';

/** Ogg stream of Opus packets, in pieces that can be sent as they come (RFC 3533, RFC 7845). Mono. */
export interface OggOpusWriter {
  /** Header pages, which come before all audio. */
  head(): Buffer;
  /** One page with these packets, of `packetMs` each; together they must be smaller than 64 KiB. */
  page(packets: readonly Uint8Array[], packetMs: number): Buffer;
}

const firstOfStream = 2;
const continued = 1;
const headerBytes = 27;
/** Granule positions of Opus in Ogg count at this rate in hertz, for any sample rate of the audio. */
const clockRate = 48_000;

/** Opens a writer for a source at `sampleRate`; `delaySamples`, at that rate, become the pre-skip. */
export function openOggOpusWriter(sampleRate: number, delaySamples: number): OggOpusWriter {
  const serial = randomInt(2 ** 32);
  const skip = Math.round((delaySamples * clockRate) / sampleRate);
  let sequence = 0;
  let position = 0;
  const page = (packets: readonly Uint8Array[], flags: number): Buffer => {
    const lacing = packets.flatMap(({ length }) => [
      ...Array.from({ length: Math.floor(length / 255) }, () => 255),
      length % 255,
    ]);
    const header = Buffer.alloc(headerBytes);
    header.write('OggS', 0, 'latin1');
    header.writeUInt8(flags, 5);
    header.writeBigUInt64LE(BigInt(position), 6);
    header.writeUInt32LE(serial, 14);
    header.writeUInt32LE(sequence, 18);
    header.writeUInt8(lacing.length, 26);
    sequence += 1;
    const bytes = Buffer.concat([header, Buffer.from(lacing), ...packets]);
    bytes.writeUInt32LE(checksum(bytes), 22);
    return bytes;
  };
  return {
    head() {
      const head = Buffer.alloc(19);
      head.write('OpusHead', 0, 'latin1');
      head.writeUInt8(1, 8);
      head.writeUInt8(1, 9);
      head.writeUInt16LE(skip, 10);
      head.writeUInt32LE(sampleRate, 12);
      const tags = Buffer.alloc(25);
      tags.write('OpusTags', 0, 'latin1');
      tags.writeUInt32LE(9, 8);
      tags.write('dramatis ', 12, 'latin1');
      return Buffer.concat([page([head], firstOfStream), page([tags], 0)]);
    },
    page(packets, packetMs) {
      position += Math.round((packets.length * packetMs * clockRate) / 1_000);
      return page(packets, 0);
    },
  };
}

/** The bytes are not an Ogg stream, or are damaged. */
export class OggFormatError extends Error {
  override readonly name = 'OggFormatError';
}

/** Extracts the packets of an Ogg stream, however its bytes are split. */
export class OggReader {
  #bytes: Buffer = Buffer.alloc(0);
  #begun: Buffer[] = [];

  /** Returns the packets that these bytes complete, headers included. Throws `OggFormatError`. */
  push(bytes: Uint8Array): Buffer[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const packets: Buffer[] = [];
    for (let page = this.#takePage(); page !== undefined; page = this.#takePage())
      packets.push(...this.#packetsIn(page));
    return packets;
  }

  #takePage(): Buffer | undefined {
    const bytes = this.#bytes;
    if (!Buffer.from('OggS').subarray(0, bytes.length).equals(bytes.subarray(0, 4))) {
      throw new OggFormatError('a page header is missing');
    }
    if (bytes.length < headerBytes) return undefined;
    const count = bytes.readUInt8(26);
    if (bytes.length < headerBytes + count) return undefined;
    const lacing = bytes.subarray(headerBytes, headerBytes + count);
    const length = headerBytes + count + lacing.reduce((sum, each) => sum + each, 0);
    if (bytes.length < length) return undefined;
    const page = Buffer.from(bytes.subarray(0, length));
    this.#bytes = bytes.subarray(length);
    const told = page.readUInt32LE(22);
    page.writeUInt32LE(0, 22);
    if (checksum(page) !== told) throw new OggFormatError('a page is damaged');
    return page;
  }

  #packetsIn(page: Buffer): Buffer[] {
    const count = page.readUInt8(26);
    // A page that continues no packet drops the beginning of one whose end is lost.
    if ((page.readUInt8(5) & continued) === 0) this.#begun = [];
    let at = headerBytes + count;
    const packets: Buffer[] = [];
    for (const length of page.subarray(headerBytes, headerBytes + count)) {
      this.#begun.push(page.subarray(at, at + length));
      at += length;
      // A lacing value of 255 means that the packet continues.
      if (length === 255) continue;
      packets.push(Buffer.concat(this.#begun));
      this.#begun = [];
    }
    return packets;
  }
}

/** Pre-skip in samples at 48 kHz if the packet is the head of an Opus stream; otherwise undefined. */
export function opusHeadSkip(packet: Uint8Array): number | undefined {
  const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength);
  return bytes.length >= 19 && bytes.toString('latin1', 0, 8) === 'OpusHead' ? bytes.readUInt16LE(10) : undefined;
}

/** True for the two header packets that come before the audio. */
export function isOpusHeader(packet: Uint8Array): boolean {
  return /^Opus(?:Head|Tags)/.test(
    Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength).toString('latin1', 0, 8),
  );
}

/** Ogg's own CRC: not reflected, unlike zlib's. */
const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04_c1_1d_b7 : 0);
  return value >>> 0;
});

function checksum(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) ^ (table[(value >>> 24) ^ byte] as number)) >>> 0;
  return value;
}
