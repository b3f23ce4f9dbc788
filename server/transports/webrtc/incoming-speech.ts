import type { OpusDecoder } from '../../../voices/dsp/opus.ts';
import { TokenBucket } from '../../http/token-bucket.ts';
import { PacketOrder, type OrderedPacket } from './packet-order.ts';
import { opusClockRate, type RtpPacket } from './rtp.ts';

/** Packets in a row that are stood in for; a longer gap ends in silence. */
const mostConcealed = 5;
/** What is put in for a gap at most. Beyond it the session has its own idea of a client that sends nothing. */
const longestGapMs = 500;
/** Frames of 10 ms, twice over. */
const packetsPerSecond = 200;

interface Listener {
  readonly payloadType: number;
  readonly decoder: OpusDecoder;
  /** What the decoder decodes to. */
  readonly sampleRate: number;
  /** Told of the user's sound, in order and without holes. */
  readonly hear: (samples: Float32Array) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The user's voice: RTP packets as the network brings them, to sound. */
export class IncomingSpeech {
  readonly #listener: Listener;
  readonly #order = new PacketOrder();
  readonly #inflow: TokenBucket;
  /** RTP time at which the next packet should begin. */
  #expected = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#inflow = new TokenBucket({ burst: 2 * packetsPerSecond, perSecond: packetsPerSecond, now: listener.now });
  }

  /** Takes a packet off the line; anything that is not Opus is ignored, and so is a flood. */
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

  /** Lost packets are stood in for; what a sender left out, being silent, is silence. */
  #fillGap(timestamp: number, lost: number, next: Uint8Array): void {
    const { decoder, sampleRate, hear } = this.#listener;
    const gap = (timestamp - this.#expected) | 0;
    let missing = Math.round(Math.min(gap / opusClockRate, longestGapMs / 1000) * sampleRate);
    const concealed = Math.min(lost, mostConcealed);
    for (let count = 1; count <= concealed && missing > 0; count += 1) {
      // Only the last one is next to a packet that may carry a copy of it.
      const samples = decoder.conceal(count === lost ? next : undefined);
      hear(samples);
      missing -= samples.length;
    }
    if (missing > 0) hear(new Float32Array(missing));
  }
}
