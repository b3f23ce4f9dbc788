/** One RTP packet (RFC 3550): a piece of an audio stream. */
export interface RtpPacket {
  readonly payloadType: number;
  /** Increases by one for each packet, modulo 2¹⁶. */
  readonly sequence: number;
  /** Start of the piece in samples at the codec's clock rate, modulo 2³². */
  readonly timestamp: number;
  /** SSRC: identifies the stream of the sender. */
  readonly source: number;
  readonly payload: Uint8Array;
}

/** A packet to send; payload type and SSRC are set by the connection. */
export type OutgoingPacket = Pick<RtpPacket, 'sequence' | 'timestamp' | 'payload'> & {
  /** True for the first packet after a pause. */
  readonly marker: boolean;
};

/** RTP clock rate of Opus: 48 kHz, independent of the rate of both ends (RFC 7587). */
export const opusClockRate = 48_000;
