import { openOpusDecoder, openOpusEncoder, type OpusDecoder, type OpusEncoder } from '../../../voices/dsp/opus.ts';
import { OpusFrames } from '../../client/audio/opus-frames.js';
import type { OpusPacket } from '../../protocol/binary-frame.ts';
import { wireSampleRate } from '../../protocol/limits.ts';

/** A packet of a reply, and the samples of the reply that went before. */
export interface ReplyPacket extends OpusPacket {
  readonly offsetSamples: number;
}

/** A reply on its way out. */
interface Stream {
  readonly encoder: OpusEncoder;
  readonly frames: OpusFrames;
  sentSamples: number;
}

/** The sound of one session as Opus, both ways, at the wire's rate. */
export class OpusSound {
  readonly #decoder: OpusDecoder;
  readonly #replies = new Map<string, Stream>();
  #closed = false;

  private constructor(decoder: OpusDecoder) {
    this.#decoder = decoder;
  }

  /** The caller closes it. */
  static async open(): Promise<OpusSound> {
    return new OpusSound(await openOpusDecoder(wireSampleRate));
  }

  /** What the user says in one packet; undefined where it is no Opus, or shorter than its header tells. */
  hear({ packet, skipSamples, takeSamples }: OpusPacket): Float32Array | undefined {
    const samples = this.#decoder.decodeWhole(packet);
    if (samples === undefined || samples.length < skipSamples + takeSamples) return undefined;
    // Opus may overshoot, and what is no sound decodes to any height.
    return samples.subarray(skipSamples, skipSamples + takeSamples).map((sample) => Math.max(-1, Math.min(1, sample)));
  }

  /** Makes ready for a reply: a stream of its own, so that nothing of another is left in the encoder. */
  async begin(replyId: string): Promise<void> {
    const encoder = await openOpusEncoder(wireSampleRate, { isLossless: true });
    if (this.#closed) return encoder.close();
    this.#replies.set(replyId, { encoder, frames: new OpusFrames(encoder.delaySamples), sentSamples: 0 });
  }

  /** Takes more of a reply that has begun; returns the packets that are full. */
  push(replyId: string, samples: Float32Array): ReplyPacket[] {
    const stream = this.#replies.get(replyId);
    return stream === undefined ? [] : packetsOf(stream, stream.frames.push(samples));
  }

  /** The rest of what was pushed. */
  flush(replyId: string): ReplyPacket[] {
    const stream = this.#replies.get(replyId);
    return stream === undefined ? [] : packetsOf(stream, stream.frames.flush());
  }

  /** Nothing more of a reply comes. */
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
