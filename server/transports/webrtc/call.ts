import type { OpusDecoder, OpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Transport } from '../../connections/socket-transport.ts';
import { limits, wireSampleRate } from '../../protocol/limits.ts';
import { newId } from '../../realtime/encode.ts';
import type { Clock } from '../../session/contract/clock.ts';
import { errorObject } from '../../session/contract/errors.ts';
import { IncomingSpeech } from './incoming-speech.ts';
import type { Offer } from './offer.ts';
import type { PeerConnection, PeerListener } from './peer.ts';

export interface CallParts {
  readonly offer: Offer;
  /** Both at the wire's sample rate. The call closes them. */
  readonly encoder: OpusEncoder;
  readonly decoder: OpusDecoder;
  readonly clock: Clock;
  readonly openPeer: (listener: PeerListener) => PeerConnection;
  readonly onFault: (fault: unknown) => void;
  /** Called once, when the peer connection has ended. */
  readonly onEnd: () => void;
}

/** Receiver of all that the client sends over a call. */
export interface CallUser {
  text(text: string): void;
  binary(): void;
  hear(samples: Float32Array): void;
  /** Audio can be sent. */
  connected(call: Call): void;
  /** The call has ended: a side has closed it, or the client is silent. */
  ended(call: Call, because: 'closed' | 'lost'): void;
}

/** One WebRTC connection, as a transport of events (its data channel) and of speech both ways (its audio tracks). */
export class Call implements Transport {
  readonly peer: PeerConnection;
  /** Set while the connection carries a talk. */
  user: CallUser | undefined;
  /** If set, the reason for the end of the call, which is sent to the client. */
  tellsEnd = false;
  readonly encoder: OpusEncoder;
  readonly #incoming: IncomingSpeech;
  #isConnected = false;
  #signMs: number;
  /** Events that wait for the data channel to open. Undefined if it is open, or if the client offers none. */
  #waiting: string[] | undefined;
  #waitingBytes = 0;

  constructor({ offer, encoder, decoder, clock, openPeer, onFault, onEnd }: CallParts) {
    this.encoder = encoder;
    this.#waiting = offer.hasEvents ? [] : undefined;
    this.#signMs = clock.now();
    const noteSign = (): void => void (this.#signMs = clock.now());
    this.peer = openPeer({
      onOpen: () => this.#open(),
      onConnect: () => {
        this.#isConnected = true;
        this.user?.connected(this);
      },
      onText: (text) => {
        noteSign();
        this.user?.text(text);
      },
      onBinary: () => this.user?.binary(),
      onPacket: (packet) => {
        noteSign();
        this.#incoming.receive(packet);
      },
      onSign: noteSign,
      onEnd: (because) => {
        this.#isConnected = false;
        this.user?.ended(this, because);
        encoder.close();
        decoder.close();
        onEnd();
      },
      onFault,
    });
    this.#incoming = new IncomingSpeech({
      payloadType: offer.audio.payloadType,
      decoder,
      sampleRate: wireSampleRate,
      hear: (samples) => this.user?.hear(samples),
      now: () => clock.now(),
    });
  }

  /** True while audio can be sent. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** When the client has last been heard of, on the clock. */
  get signMs(): number {
    return this.#signMs;
  }

  /** Sends a packet of speech. */
  readonly sendPacket: PeerConnection['sendPacket'] = (packet) => this.peer.sendPacket(packet);

  /** Sends an event, in JSON. Returns false if the client has stopped reading. */
  send(frame: string | Uint8Array): boolean {
    const text = frame as string;
    if (this.#waiting !== undefined) {
      this.#waiting.push(text);
      this.#waitingBytes += text.length;
      return this.#waitingBytes <= limits.unsentBytes;
    }
    const { mostBytes } = this.peer;
    if (Buffer.byteLength(text) <= mostBytes) return this.peer.sendText(text);
    const event = JSON.parse(text) as { readonly type: string };
    const short =
      event.type === 'conversation.item.retrieved'
        ? JSON.stringify(event, (key, value: unknown) => (key === 'audio' ? null : value))
        : text;
    if (Buffer.byteLength(short) <= mostBytes) return this.peer.sendText(short);
    const message = `An event (${event.type}) is larger than the data channel’s limit of ${mostBytes} bytes.`;
    const error = errorObject({ code: 'message_too_large', message });
    return this.peer.sendText(JSON.stringify({ type: 'error', event_id: newId('event'), error }));
  }

  /** The state of the data channel adds nothing to that of the connection. */
  probe(answered: () => void): void {
    answered();
  }

  close(reason: Parameters<Transport['close']>[0]): void {
    if (reason === 'client_too_slow') return this.peer.end();
    this.user = undefined;
    if (this.tellsEnd && reason !== 'replaced')
      this.send(JSON.stringify({ type: 'x_dramatis.call_ended', event_id: newId('event'), reason }));
    this.peer.endSoon();
  }

  #open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const text of waiting) this.peer.sendText(text);
  }
}
