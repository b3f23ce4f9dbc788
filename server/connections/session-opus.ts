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

/** Most decoders of a session: of eight players, and of the user. */
const mostDecoders = 9;

/** Opus codec of one session, both directions, at the wire's sample rate. */
export class SessionOpus {
  /** By number of the player, the one heard last at the end. */
  readonly #decoders = new Map<number, OpusDecoder>();
  /** For the next player who is heard. */
  #spare: OpusDecoder | undefined;
  #opening = Promise.resolve();
  #isFull = false;
  readonly #replies = new Map<string, Stream>();
  #closed = false;

  private constructor(decoder: OpusDecoder) {
    this.#spare = decoder;
  }

  /** The caller closes it. */
  static async open(): Promise<SessionOpus> {
    return new SessionOpus(await openOpusDecoder(wireSampleRate));
  }

  /** Undefined if the audio of a player can be decoded; otherwise settles when it is worth another look. */
  waitFor(player: number): Promise<void> | undefined {
    const isKnown = this.#spare !== undefined || this.#decoders.has(player);
    return isKnown || this.#closed || this.#isFull ? undefined : this.#opening;
  }

  /**
   * Decodes one packet of user audio; each player's is a stream of its own. Returns undefined if it is not Opus, or
   * shorter than its header says.
   */
  decode({ packet, skipSamples, takeSamples }: OpusPacket, player = 0): Float32Array | undefined {
    const samples = this.#decoderOf(player)?.decodeWhole(packet);
    if (samples === undefined || samples.length < skipSamples + takeSamples) return undefined;
    // Opus may overshoot, and a packet of garbage may decode to any amplitude.
    return samples.subarray(skipSamples, skipSamples + takeSamples).map((sample) => Math.max(-1, Math.min(1, sample)));
  }

  /** Number of players who are decoded. */
  get decoders(): number {
    return this.#decoders.size;
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
    for (const decoder of this.#decoders.values()) decoder.close();
    this.#decoders.clear();
    this.#spare?.close();
    this.#spare = undefined;
  }

  #decoderOf(player: number): OpusDecoder | undefined {
    const decoder = this.#decoders.get(player) ?? this.#spare;
    if (decoder === undefined) return undefined;
    if (decoder === this.#spare) {
      this.#spare = undefined;
      this.#opening = this.#openSpare();
    }
    this.#decoders.delete(player);
    this.#decoders.set(player, decoder);
    const [longest] = this.#decoders;
    if (this.#decoders.size > mostDecoders && longest !== undefined) {
      longest[1].close();
      this.#decoders.delete(longest[0]);
    }
    return decoder;
  }

  async #openSpare(): Promise<void> {
    const decoder = await openOpusDecoder(wireSampleRate).catch(() => undefined);
    // Without memory for one more, further players are refused packet by packet.
    this.#isFull = decoder === undefined;
    if (this.#closed) decoder?.close();
    else this.#spare = decoder;
  }
}

function packetsOf(stream: Stream, frames: ReturnType<OpusFrames['push']>): ReplyPacket[] {
  return frames.map(({ samples, skipSamples, takeSamples }) => {
    const offsetSamples = stream.sentSamples;
    stream.sentSamples += takeSamples;
    return { packet: stream.encoder.encode(samples), skipSamples, takeSamples, offsetSamples };
  });
}
