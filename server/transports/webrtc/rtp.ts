/** One RTP packet (RFC 3550): a piece of an audio stream. */
export interface RtpPacket {
  readonly payloadType: number;
  /** Grows by one a packet, modulo 2¹⁶. */
  readonly sequence: number;
  /** When the piece begins, in samples at the codec's clock rate, modulo 2³². */
  readonly timestamp: number;
  /** Which stream of the sender it belongs to. */
  readonly source: number;
  readonly payload: Uint8Array;
}

/** A packet of ours: the connection knows type and source. */
export type OutgoingPacket = Pick<RtpPacket, 'sequence' | 'timestamp' | 'payload'> & {
  /** The first packet after a pause. */
  readonly marker: boolean;
};

/** Every RTP clock of Opus runs at 48 kHz, whatever rate the ends work at (RFC 7587). */
export const opusClockRate = 48_000;
