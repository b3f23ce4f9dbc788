import { EventEmitter, once } from 'node:events';
import * as webrtc from 'node-datachannel';
import { afterEach, expect } from 'vitest';
import { parseRtp, writeRtp, type RtpPacket } from '../../server/webrtc/rtp.ts';
import { concatSamples } from '../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder } from '../../voices/opus.ts';
import type { SpeechSynthesizer } from '../../voices/synthesizer.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { tone } from '../fakes/vad.ts';

const open: { close(): void }[] = [];

afterEach(() => {
  for (const peer of open.splice(0)) peer.close();
});

/** A synthesizer whose speech is a tone: Opus carries no constant pressure. */
export function singingSynthesizer(): SpeechSynthesizer {
  const synthesizer = fakeSynthesizer();
  return {
    ...synthesizer,
    async *speak(phrases, options) {
      for await (const chunk of synthesizer.speak(phrases, options)) {
        const { frame } = chunk;
        const sung = tone((frame.samples.length / frame.sampleRate) * 1000, frame.sampleRate);
        yield { ...chunk, frame: { ...frame, samples: sung } };
      }
    },
  };
}

/** How loud, from 0 to 1. */
export function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

const payloadType = 109;

/** A client with a microphone and a loudspeaker, on the same library as the server. */
export class NodeCaller {
  readonly events: RecordedEvent[] = [];
  readonly packets: RtpPacket[] = [];
  /** Tells of what happens: `event`, `open`, `closed`. */
  readonly #news = new EventEmitter();
  readonly #connection = new webrtc.PeerConnection('caller', { iceServers: [], disableAutoNegotiation: true });
  readonly #track: webrtc.Track;
  readonly #channel: webrtc.DataChannel;
  #sequence = 65_500;
  #timestamp = 2 ** 32 - 9_600;
  /** How far `until` has read. */
  #read = 0;

  constructor() {
    const audio = new webrtc.Audio('0', 'SendRecv');
    audio.addOpusCodec(payloadType);
    audio.addSSRC(4711, 'caller', 'caller', 'microphone');
    this.#track = this.#connection.addTrack(audio);
    this.#track.onMessage((bytes) => {
      const packet = parseRtp(bytes);
      if (packet !== undefined) this.packets.push(packet);
    });
    this.#channel = this.#connection.createDataChannel('oai-events');
    this.#channel.onMessage((message) => {
      this.events.push(JSON.parse(String(message)) as RecordedEvent);
      this.#news.emit('event');
    });
    this.#channel.onClosed(() => this.#news.emit('closed'));
    this.#channel.onOpen(() => this.#news.emit('open'));
    // Asked to tell, the library frees what it needs for telling.
    this.#track.onClosed(() => undefined);
    this.#connection.onStateChange(() => undefined);
    open.push(this);
  }

  /** The offer, with all our addresses. */
  async offer(): Promise<string> {
    const gathered = new Promise<void>((resolve) =>
      this.#connection.onGatheringStateChange((state) => {
        if (state === 'complete') resolve();
      }),
    );
    this.#connection.setLocalDescription('offer');
    await gathered;
    return this.#connection.localDescription()?.sdp ?? '';
  }

  /** Takes the answer; resolves once events can be sent. */
  async connect(answer: string): Promise<void> {
    const isOpen = once(this.#news, 'open');
    this.#connection.setRemoteDescription(answer, 'answer');
    if (!this.#channel.isOpen()) await isOpen;
  }

  send(event: Record<string, unknown>): void {
    this.#channel.sendMessage(JSON.stringify(event));
  }

  /** Speaks into the microphone, faster than anyone could. */
  async speak(samples: Float32Array): Promise<void> {
    const encoder = await openOpusEncoder(24_000);
    for (let offset = 0; offset + encoder.frameSamples <= samples.length; offset += encoder.frameSamples) {
      const payload = encoder.encode(samples.subarray(offset, offset + encoder.frameSamples));
      const head = { payloadType, sequence: this.#sequence, timestamp: this.#timestamp, source: 4711, marker: false };
      this.#track.sendMessageBinary(writeRtp({ ...head, payload }));
      this.#sequence = (this.#sequence + 1) % 2 ** 16;
      this.#timestamp = (this.#timestamp + 960) % 2 ** 32;
    }
    encoder.close();
  }

  /** The next event of this type that has not been waited for. */
  async until(type: string): Promise<any> {
    for (;;) {
      const index = this.events.findIndex((event, at) => at >= this.#read && event.type === type);
      if (index >= 0) {
        this.#read = index + 1;
        return this.events[index];
      }
      await once(this.#news, 'event');
    }
  }

  /** Resolves when the server has hung up. */
  async untilClosed(): Promise<void> {
    if (this.#channel.isOpen()) await once(this.#news, 'closed');
  }

  /** What the loudspeaker has played. */
  async heard(packets: readonly RtpPacket[] = this.packets): Promise<Float32Array> {
    const decoder = await openOpusDecoder(24_000);
    const sound = concatSamples(packets.map(({ payload }) => decoder.decode(payload)));
    decoder.close();
    return sound;
  }

  /** Checks that the events came in the order of the protocol. */
  expectOrder(): void {
    expect(orderViolations(this.events.filter(({ type }) => !type.startsWith('output_audio_buffer.')))).toEqual([]);
    expect(unfinishedResponses(this.events)).toEqual([]);
  }

  close(): void {
    this.#channel.close();
    this.#track.close();
    this.#connection.close();
  }
}
