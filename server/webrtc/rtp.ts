/** One RTP packet (RFC 3550): a piece of an audio stream. */
export interface RtpPacket {
  readonly payloadType: number;
  /** Grows by one a packet, modulo 2¹⁶. */
  readonly sequence: number;
  /** When the piece begins, in samples at the codec's clock rate, modulo 2³². */
  readonly timestamp: number;
  /** Which stream of the sender it belongs to. */
  readonly source: number;
  /** The first packet after a pause. */
  readonly marker: boolean;
  readonly payload: Uint8Array;
}

/** Every RTP clock of Opus runs at 48 kHz, whatever rate the ends work at (RFC 7587). */
export const opusClockRate = 48_000;

const headerBytes = 12;

/** Reads a packet; undefined where it is none, or none with sound: RTCP shares the line. */
export function parseRtp(bytes: Uint8Array): RtpPacket | undefined {
  if (bytes.length < headerBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(0);
  const type = view.getUint8(1);
  // Version 2; types of RTCP packets lie where no RTP payload type with a marker may (RFC 5761).
  if (flags >> 6 !== 2 || (type >= 192 && type <= 223)) return undefined;
  let start = headerBytes + 4 * (flags & 0x0f);
  if ((flags & 0x10) !== 0) {
    if (start + 4 > bytes.length) return undefined;
    start += 4 + 4 * view.getUint16(start + 2);
  }
  const padding = (flags & 0x20) === 0 ? 0 : view.getUint8(bytes.length - 1);
  const end = bytes.length - padding;
  if (start >= end) return undefined;
  return {
    payloadType: type & 0x7f,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    source: view.getUint32(8),
    marker: (type & 0x80) !== 0,
    payload: bytes.subarray(start, end),
  };
}

/** Writes a packet. */
export function writeRtp(packet: RtpPacket): Buffer {
  const bytes = Buffer.alloc(headerBytes + packet.payload.length);
  bytes.writeUInt8(0x80, 0);
  bytes.writeUInt8((packet.marker ? 0x80 : 0) | packet.payloadType, 1);
  bytes.writeUInt16BE(packet.sequence, 2);
  bytes.writeUInt32BE(packet.timestamp, 4);
  bytes.writeUInt32BE(packet.source, 8);
  bytes.set(packet.payload, headerBytes);
  return bytes;
}
