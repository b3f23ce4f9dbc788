import { once } from 'node:events';
import { WebSocket } from 'ws';
import { encodeFrame, decodeFrame } from '../../../../server/client/connection/binary-frame.js';
import { OpusFrames } from '../../../../server/client/audio/opus-frames.js';
import { concatSamples } from '../../../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder } from '../../../../voices/dsp/opus.ts';

// Untyped, because each test knows the fields of its events.
type Event = Record<string, any>;

/** A bare client for Opus that records every frame as received. */
export function openBare(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const frames: (Buffer | Event)[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    frames.push(isBinary ? data : (JSON.parse(data.toString()) as Event));
  });
  const closed = once(socket, 'close').then(([code]) => code as number);
  const of = (type: string): Event[] =>
    frames.filter((frame): frame is Event => !Buffer.isBuffer(frame) && frame['type'] === type);
  let sequence = 0;
  const client = {
    socket,
    frames,
    closed,
    of,
    binary: () => frames.filter((frame): frame is Buffer => Buffer.isBuffer(frame)),
    codes: () => of('error').map(({ error }) => error.code as string),
    send: (event: Event) => socket.send(JSON.stringify(event)),
    /** Sends bytes in a numbered frame of user audio that is marked as Opus. */
    sendPacket(packet: Uint8Array, skipSamples = 0, takeSamples = 480, player = 0) {
      sequence += 1;
      const opus = { packet, skipSamples, takeSamples };
      socket.send(encodeFrame({ kind: 'input', replyNumber: player, sequence, offsetSamples: 0, opus }));
    },
    async until(type: string, count = 1): Promise<Event> {
      for (;;) {
        const found = of(type)[count - 1];
        if (found !== undefined) return found;
        const outcome = await Promise.race([once(socket, 'message'), closed]);
        if (typeof outcome === 'number') throw new Error(`closed with ${outcome} before ${type}`);
      }
    },
    /** Sends a typed turn and waits for the end of the reply. */
    async ask(text = 'Are you there?'): Promise<Event> {
      const before = of('response.done').length;
      const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
      client.send({ type: 'conversation.item.create', item });
      client.send({ type: 'response.create' });
      return (await client.until('response.done', before + 1))['response'] as Event;
    },
  };
  return client;
}

/** Encodes audio as Opus packets, with the samples to skip and to take from each. */
export async function packetsOf(sound: Float32Array) {
  const encoder = await openOpusEncoder(24_000, { isLossless: true });
  const cutter = new OpusFrames(encoder.delaySamples);
  const packets = [...cutter.push(sound), ...cutter.flush()].map(({ samples, ...part }) => ({
    packet: encoder.encode(samples),
    ...part,
  }));
  encoder.close();
  return packets;
}

/** Decodes the binary frames of one reply, and checks that it is complete and in order. */
export async function soundOf(frames: readonly Buffer[]): Promise<Float32Array> {
  const decoder = await openOpusDecoder(24_000);
  const blocks: Float32Array[] = [];
  let offset = 0;
  for (const bytes of frames) {
    const frame = decodeFrame(bytes);
    if (frame === undefined || !('opus' in frame)) throw new Error('a frame is no Opus');
    if (frame.offsetSamples !== offset) throw new Error(`${frame.offsetSamples} instead of ${offset}`);
    const { packet, skipSamples, takeSamples } = frame.opus;
    const samples = decoder.decodeWhole(packet);
    if (samples === undefined) throw new Error('a packet cannot be decoded');
    blocks.push(samples.subarray(skipSamples, skipSamples + takeSamples));
    offset += takeSamples;
  }
  decoder.close();
  return concatSamples(blocks);
}
