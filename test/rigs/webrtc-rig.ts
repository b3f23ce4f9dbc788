import { EventEmitter, once } from 'node:events';
import { expect } from 'vitest';
import { afterEachTest } from '../fakes/cleanups.ts';
import {
  MediaStreamTrack,
  RtpHeader,
  RtpPacket,
  type RTCDataChannel,
  type RTCRtpSender,
  type StunProtocol,
} from 'werift';
import { concatSamples } from '../../voices/audio.ts';
import { openOpusDecoder, openOpusEncoder, opusFrameMs } from '../../voices/dsp/opus.ts';
import { orderViolations, unfinishedResponses, type RecordedEvent } from '../conformance/realtime-order.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { openLoopbackPeer } from '../fakes/network/loopback-peer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { silence, tone } from '../fakes/vad.ts';
import type { serve } from './serve-rig.ts';

type Server = Pick<Awaited<ReturnType<typeof serve>>, 'url'>;

export const callsPath = '/v1/realtime/calls';

const open: { close(): Promise<void> }[] = [];

afterEachTest(async () => {
  await Promise.all(open.splice(0).map((caller) => caller.close()));
});

/** Engines whose voice survives Opus. */
export function singing(options: Parameters<typeof fakeEngines>[0] = {}): ReturnType<typeof fakeEngines> {
  return fakeEngines({ synthesizer: fakeSynthesizer({ sings: true }), ...options });
}

/** Root mean square level, 0 to 1. */
export function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

/** Query and headers of an offer. */
export interface Asking {
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Posts an offer, alone or in a form. */
export async function offerTo(server: Server, body: string | FormData, { query = '', headers = {} }: Asking = {}) {
  const type = typeof body === 'string' ? { 'content-type': 'application/sdp' } : {};
  return fetch(`${server.url}${callsPath}${query}`, { method: 'POST', headers: { ...type, ...headers }, body });
}

/** Connects a caller. */
export async function dial(server: Server, asking: Asking = {}) {
  const caller = new NodeCaller();
  const response = await offerTo(server, await caller.offer(), asking);
  expect(response.status).toBe(201);
  const answer = await response.text();
  await caller.connect(answer);
  return { caller, location: response.headers.get('location') ?? '', answer };
}

/** Address, port and type of each candidate in an answer. */
export function candidatesOf(sdp: string): { address: string; port: number; type: string }[] {
  const [audio = ''] = sdp.split(/^m=application /m);
  return [...audio.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ (\w+)/gm)].map(
    ([, address = '', port, type = '']) => ({ address, port: Number(port), type }),
  );
}

/** Status and code of a refused call. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

/** Says something that counts as a turn. */
export async function ask(caller: NodeCaller): Promise<void> {
  await caller.speak(silence(200));
  await caller.speak(tone(600));
  await caller.speak(silence(1_200));
}

/** A client with microphone and loudspeaker, on the same library as the server. It stays on loopback. */
export class NodeCaller {
  readonly events: RecordedEvent[] = [];
  readonly packets: RtpPacket[] = [];
  /** Emits `event`, `packet`, and states such as `open` and `closed`. */
  readonly #news = new EventEmitter();
  readonly #connection = openLoopbackPeer();
  readonly #sender: RTCRtpSender;
  readonly #channel: RTCDataChannel;
  /** Both close to their wrap-around. */
  #sequence = 65_500;
  #timestamp = 2 ** 32 - 9_600;
  /** Index of the first event that `until` has not read. */
  #read = 0;

  constructor() {
    const microphone = new MediaStreamTrack({ kind: 'audio' });
    this.#sender = this.#connection.addTransceiver(microphone, { direction: 'sendrecv' }).sender;
    this.#connection.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe((packet) => {
        this.packets.push(packet);
        this.#news.emit('packet');
      });
    });
    this.#channel = this.#connection.createDataChannel('oai-events');
    this.#channel.onMessage.subscribe((message) => {
      this.events.push(JSON.parse(String(message)) as RecordedEvent);
      this.#news.emit('event');
    });
    this.#channel.stateChange.subscribe((state) => void this.#news.emit(state));
    this.#connection.connectionStateChange.subscribe((state) => void this.#news.emit(state));
    open.push(this);
  }

  /** The offer, with all our addresses. */
  async offer(): Promise<string> {
    const offer = await this.#connection.createOffer();
    // Without a configured STUN server, the library would use one of Google's.
    for (const { iceTransport } of this.#connection.dtlsTransports) delete iceTransport.connection.stunServer;
    await this.#connection.setLocalDescription(offer);
    return this.#connection.localDescription?.sdp ?? '';
  }

  /** Takes the answer; resolves once events can be sent. */
  async connect(answer: string): Promise<void> {
    const isOpen = once(this.#news, 'open');
    await this.#connection.setRemoteDescription({ type: 'answer', sdp: answer });
    await isOpen;
  }

  send(event: Record<string, unknown>): void {
    this.#channel.send(JSON.stringify(event));
  }

  /** Sends speech, faster than real time. */
  async speak(samples: Float32Array): Promise<void> {
    const encoder = await openOpusEncoder(24_000);
    for (let offset = 0; offset + encoder.frameSamples <= samples.length; offset += encoder.frameSamples) {
      const payload = Buffer.from(encoder.encode(samples.subarray(offset, offset + encoder.frameSamples)));
      const header = new RtpHeader({ sequenceNumber: this.#sequence, timestamp: this.#timestamp });
      await this.#sender.sendRtp(new RtpPacket(header, payload));
      this.#sequence = (this.#sequence + 1) % 2 ** 16;
      this.#timestamp = (this.#timestamp + 960) % 2 ** 32;
    }
    encoder.close();
  }

  /** The next event of this type after those already returned. */
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
    if (this.#connection.connectionState !== 'closed') await once(this.#news, 'closed');
  }

  /** Resolves when the loudspeaker has played for this long. */
  async untilHeard(ms: number): Promise<void> {
    while (this.packets.length * opusFrameMs < ms) await once(this.#news, 'packet');
  }

  /** The audio played by the loudspeaker. */
  async heard(): Promise<Float32Array> {
    const decoder = await openOpusDecoder(24_000);
    const sound = concatSamples(this.packets.map(({ payload }) => decoder.decode(payload)));
    decoder.close();
    return sound;
  }

  /** Checks that the events came in protocol order. */
  expectOrder(): void {
    expect(orderViolations(this.events.filter(({ type }) => !type.startsWith('output_audio_buffer.')))).toEqual([]);
    expect(unfinishedResponses(this.events)).toEqual([]);
  }

  /** Disappears without closing the connection, like a device with an empty battery. */
  async vanish(): Promise<void> {
    const sockets = this.#connection.dtlsTransports.flatMap(
      ({ iceTransport }) => (iceTransport.connection as unknown as { protocols: StunProtocol[] }).protocols,
    );
    await Promise.all(sockets.map((socket) => socket.close()));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
