import type { OpusDecoder } from '../../../voices/dsp/opus.ts';
import { TokenBucket } from '../../http/rate-limit.ts';
import { PacketOrder, type OrderedPacket } from './packet-order.ts';
import { opusClockRate, type RtpPacket } from './rtp.ts';

/** Most consecutive packets that are concealed; the rest of a longer gap is silence. */
const mostConcealed = 5;
/** Longest gap that is filled. Beyond it, the session handles a client that sends nothing. */
const longestGapMs = 500;
/** Twice the packet rate of 10 ms frames. */
const packetsPerSecond = 200;

interface Listener {
  readonly payloadType: number;
  readonly decoder: OpusDecoder;
  /** The decoder's output rate. */
  readonly sampleRate: number;
  /** Receives the user's audio, in order and without gaps. */
  readonly hear: (samples: Float32Array) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Turns RTP packets, in arrival order, into the user's audio. */
export class IncomingSpeech {
  readonly #listener: Listener;
  readonly #order = new PacketOrder();
  readonly #inflow: TokenBucket;
  /** RTP timestamp at which the next packet should begin. */
  #expected = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#inflow = new TokenBucket({ burst: 2 * packetsPerSecond, perSecond: packetsPerSecond, now: listener.now });
  }

  /** Takes a packet from the network. Drops packets that are not Opus, and packets over the rate limit. */
  receive(packet: RtpPacket): void {
    if (packet.payloadType !== this.#listener.payloadType || !this.#inflow.take()) return;
    for (const ordered of this.#order.push(packet)) this.#play(ordered);
  }

  #play({ packet, lost, isStart }: OrderedPacket): void {
    const { decoder, sampleRate, hear } = this.#listener;
    if (!isStart) this.#fillGap(packet.timestamp, lost, packet.payload);
    const samples = decoder.decode(packet.payload);
    hear(samples);
    this.#expected = (packet.timestamp + (samples.length / sampleRate) * opusClockRate) >>> 0;
  }

  /** Conceals lost packets, and fills with silence what a silent sender left out (DTX). */
  #fillGap(timestamp: number, lost: number, next: Uint8Array): void {
    const { decoder, sampleRate, hear } = this.#listener;
    const gap = (timestamp - this.#expected) | 0;
    let missing = Math.round(Math.min(gap / opusClockRate, longestGapMs / 1000) * sampleRate);
    const concealed = Math.min(lost, mostConcealed);
    for (let count = 1; count <= concealed && missing > 0; count += 1) {
      // Only the last one precedes a packet that may carry a copy of it (FEC).
      const samples = decoder.conceal(count === lost ? next : undefined);
      hear(samples);
      missing -= samples.length;
    }
    if (missing > 0) hear(new Float32Array(missing));
  }
}
