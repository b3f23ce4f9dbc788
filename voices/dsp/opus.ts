import { Application, createDecoder, createEncoder, Signal } from 'libopus-wasm';

/** Rates Opus takes and gives, in hertz. On the wire there is only one Opus: both ends choose theirs freely. */
export type OpusSampleRate = 8_000 | 12_000 | 16_000 | 24_000 | 48_000;

/** Length of the frames we encode, in milliseconds: what every WebRTC client sends and expects. */
export const opusFrameMs = 20;

/** Longest packet there is, in milliseconds. */
const longestPacketMs = 120;
/** Beyond what an encoder makes (libopus advises a buffer of 4,000 bytes), a packet is none: what is decoded stays in memory. */
const mostPacketBytes = 4_000;
/** Speech is transparent from here on; music would want more. */
const bitsPerSecond = 40_000;
/** 0 to 10. From 5 on, more work can be measured, but not heard in speech. */
const complexity = 5;
/** How much loss the encoder prepares for: each packet then carries a rough copy of the one before. */
const expectedLossPercent = 5;

/** Turns mono speech into Opus packets, one for each frame. */
export interface OpusEncoder {
  readonly frameSamples: number;
  /** By so many samples what a decoder gives lags behind what the encoder was given. */
  readonly delaySamples: number;
  /** Takes exactly `frameSamples` samples in [-1, 1]. */
  encode(frame: Float32Array): Uint8Array;
  /** Frees its memory; it must not be used any more. */
  close(): void;
}

/** Turns the packets of one stream, in their order, back into mono sound. */
export interface OpusDecoder {
  /** The sound of one packet, 2.5 to 120 ms. A packet that is no Opus counts as lost. */
  decode(packet: Uint8Array): Float32Array;
  /** The same, but undefined for what is no Opus. */
  decodeWhole(packet: Uint8Array): Float32Array | undefined;
  /**
   * Stands in for one lost packet, as long as the one before it: rebuilt from the copy that `next`, the packet after it,
   * may carry, or else continued from what was heard last.
   */
  conceal(next?: Uint8Array): Float32Array;
  /** Frees its memory; it must not be used any more. */
  close(): void;
}

/**
 * Opens an encoder for speech at the given rate; `isLossless`: every packet will arrive. The caller closes it: WebAssembly
 * memory is not collected.
 */
export async function openOpusEncoder(
  sampleRate: OpusSampleRate,
  { isLossless = false }: { readonly isLossless?: boolean } = {},
): Promise<OpusEncoder> {
  const encoder = await createEncoder({
    sampleRate,
    channels: 1,
    frameSize: (sampleRate * opusFrameMs) / 1000,
    // `Voip` would filter the voice, as for a bad microphone: 27 dB of signal to noise become 5.
    application: Application.Audio,
    signal: Signal.Voice,
    bitrate: bitsPerSecond,
    complexity,
    // Without the copies, the same sound takes half the work.
    fec: !isLossless,
    packetLossPercent: isLossless ? 0 : expectedLossPercent,
  });
  return {
    frameSamples: encoder.frameSize,
    delaySamples: encoder.getLookahead(),
    encode: (frame) => encoder.encodeFloat(frame),
    close: () => encoder.free(),
  };
}

/** Opens a decoder to the given rate; stereo is mixed down. The caller closes it. */
export async function openOpusDecoder(sampleRate: OpusSampleRate): Promise<OpusDecoder> {
  const decoder = await createDecoder({ sampleRate, channels: 1, maxFrameSize: (sampleRate * longestPacketMs) / 1000 });
  let packetSamples = (sampleRate * opusFrameMs) / 1000;
  const conceal = (next?: Uint8Array): Float32Array => {
    if (next !== undefined && next.length > 0 && next.length <= mostPacketBytes) {
      try {
        return decoder.decodeFloat(next, { decodeFec: true, frameSize: packetSamples });
      } catch {
        // Broken too.
      }
    }
    return decoder.decodePacketLossFloat(packetSamples);
  };
  const decodeWhole = (packet: Uint8Array): Float32Array | undefined => {
    if (packet.length === 0 || packet.length > mostPacketBytes) return undefined;
    try {
      const samples = decoder.decodeFloat(packet);
      packetSamples = samples.length;
      return samples;
    } catch {
      return undefined;
    }
  };
  return {
    decode: (packet) => decodeWhole(packet) ?? conceal(),
    decodeWhole,
    conceal,
    close: () => decoder.free(),
  };
}
