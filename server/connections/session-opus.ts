import { openOpusDecoder, openOpusEncoder, type OpusDecoder, type OpusEncoder } from '../../voices/dsp/opus.ts';
import { OpusFrames } from '../client/audio/opus-frames.js';
import type { OpusPacket } from '../protocol/binary-frame.ts';
import { wireSampleRate } from '../protocol/limits.ts';

/** An Opus packet of a reply, and its offset in the reply. */
export interface ReplyPacket extends OpusPacket {
  readonly offsetSamples: number;
}

/** Encoder state of one reply. */
interface Stream {
  readonly encoder: OpusEncoder;
  readonly frames: OpusFrames;
  sentSamples: number;
}

/** Opus codec of one session, both directions, at the wire's sample rate. */
export class SessionOpus {
  readonly #decoder: OpusDecoder;
  readonly #replies = new Map<string, Stream>();
  #closed = false;

  private constructor(decoder: OpusDecoder) {
    this.#decoder = decoder;
  }

  /** The caller closes it. */
  static async open(): Promise<SessionOpus> {
    return new SessionOpus(await openOpusDecoder(wireSampleRate));
  }

  /** Decodes one packet of user audio. Returns undefined if it is not Opus, or shorter than its header says. */
  decode({ packet, skipSamples, takeSamples }: OpusPacket): Float32Array | undefined {
    const samples = this.#decoder.decodeWhole(packet);
    if (samples === undefined || samples.length < skipSamples + takeSamples) return undefined;
    // Opus may overshoot, and a packet of garbage may decode to any amplitude.
    return samples.subarray(skipSamples, skipSamples + takeSamples).map((sample) => Math.max(-1, Math.min(1, sample)));
  }

  /** Prepares a reply. It gets its own encoder, so that no state of another reply leaks into it. */
  async begin(replyId: string): Promise<void> {
    const encoder = await openOpusEncoder(wireSampleRate, { isLossless: true });
    if (this.#closed) return encoder.close();
    this.#replies.set(replyId, { encoder, frames: new OpusFrames(encoder.delaySamples), sentSamples: 0 });
  }

  /** Adds audio to a reply; returns the packets that are full. */
  push(replyId: string, samples: Float32Array): ReplyPacket[] {
    const stream = this.#replies.get(replyId);
    return stream === undefined ? [] : packetsOf(stream, stream.frames.push(samples));
  }

  /** Encodes the rest of the audio that was pushed. */
  flush(replyId: string): ReplyPacket[] {
    const stream = this.#replies.get(replyId);
    return stream === undefined ? [] : packetsOf(stream, stream.frames.flush());
  }

  end(replyId: string): void {
    this.#replies.get(replyId)?.encoder.close();
    this.#replies.delete(replyId);
  }

  close(): void {
    this.#closed = true;
    for (const replyId of this.#replies.keys()) this.end(replyId);
    this.#decoder.close();
  }
}

function packetsOf(stream: Stream, frames: ReturnType<OpusFrames['push']>): ReplyPacket[] {
  return frames.map(({ samples, skipSamples, takeSamples }) => {
    const offsetSamples = stream.sentSamples;
    stream.sentSamples += takeSamples;
    return { packet: stream.encoder.encode(samples), skipSamples, takeSamples, offsetSamples };
  });
}
