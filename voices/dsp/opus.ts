import { Application, createDecoder, createEncoder, Signal } from 'libopus-wasm';

/** Sample rates that Opus supports, in hertz. The wire format is the same for all: each end picks its own. */
export type OpusSampleRate = 8_000 | 12_000 | 16_000 | 24_000 | 48_000;

/** Length of the frames we encode, in milliseconds: what every WebRTC client sends and expects. */
export const opusFrameMs = 20;

/** Longest possible packet, in milliseconds. */
const longestPacketMs = 120;
/** Size limit of a packet, because decoded packets stay in memory; libopus advises encoders to stay below it. */
const mostPacketBytes = 4_000;
/** Speech is transparent from this bitrate on; music would need more. */
const bitsPerSecond = 40_000;
/** 0 to 10. Above 5, the gain is measurable, but not audible in speech. */
const complexity = 5;
/** Packet loss the encoder prepares for: each packet carries a coarse copy of the one before (in-band FEC). */
const expectedLossPercent = 5;

/** Encodes mono speech into Opus packets, one per frame. */
export interface OpusEncoder {
  readonly frameSamples: number;
  /** Algorithmic delay: number of samples by which decoded audio lags behind the encoder's input. */
  readonly delaySamples: number;
  /** Takes exactly `frameSamples` samples in [-1, 1]. */
  encode(frame: Float32Array): Uint8Array;
  /** Frees the encoder's memory; it must not be used afterwards. */
  close(): void;
}

/** Decodes the packets of one stream, in order, to mono audio. */
export interface OpusDecoder {
  /** Returns the audio of one packet, 2.5 to 120 ms. A packet that is not valid Opus counts as lost. */
  decode(packet: Uint8Array): Float32Array;
  /** Like `decode`, but returns undefined for a packet that is not valid Opus. */
  decodeWhole(packet: Uint8Array): Float32Array | undefined;
  /** Replaces one lost packet: rebuilt from the FEC copy in `next`, the packet after it, otherwise extrapolated. */
  conceal(next?: Uint8Array): Float32Array;
  /** Frees the decoder's memory; it must not be used afterwards. */
  close(): void;
}

/** Opens an encoder for speech; `isLossless`: all packets arrive. Close it: WebAssembly memory is not collected. */
export async function openOpusEncoder(
  sampleRate: OpusSampleRate,
  { isLossless = false }: { readonly isLossless?: boolean } = {},
): Promise<OpusEncoder> {
  const encoder = await createEncoder({
    sampleRate,
    channels: 1,
    frameSize: (sampleRate * opusFrameMs) / 1000,
    // `Voip` would filter the voice as if for a bad microphone: SNR drops from 27 to 5 dB.
    application: Application.Audio,
    signal: Signal.Voice,
    bitrate: bitsPerSecond,
    complexity,
    // Without FEC copies, the same audio takes half the work.
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

/** Opens a decoder to the given rate; stereo is mixed down. The caller must close it. */
export async function openOpusDecoder(sampleRate: OpusSampleRate): Promise<OpusDecoder> {
  const decoder = await createDecoder({ sampleRate, channels: 1, maxFrameSize: (sampleRate * longestPacketMs) / 1000 });
  let packetSamples = (sampleRate * opusFrameMs) / 1000;
  const conceal = (next?: Uint8Array): Float32Array => {
    if (next !== undefined && next.length > 0 && next.length <= mostPacketBytes) {
      try {
        return decoder.decodeFloat(next, { decodeFec: true, frameSize: packetSamples });
      } catch {
        // `next` is broken too.
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
