import type { OpusDecoder, OpusEncoder } from '../../../voices/dsp/opus.ts';
import { errorObject } from '../../session/contract/errors.ts';
import type { Transport, CloseReason } from '../websocket/resumable-stream.ts';
import { limits, wireSampleRate } from '../../protocol/limits.ts';
import type { Connection } from '../../realtime/connection.ts';
import { newId } from '../../realtime/new-id.ts';
import type { WireEvent } from '../../realtime/wire-event.ts';
import type { Clock } from '../../session/contract/clock.ts';
import { CallReplies } from './call-replies.ts';
import { IncomingSpeech } from './incoming-speech.ts';
import type { Offer } from './offer.ts';
import { OutgoingSpeech } from './outgoing-speech.ts';
import type { Peer, PeerListener } from './peer.ts';

/** Dependencies of a call. */
export interface CallParts {
  readonly offer: Offer;
  /** Both at the wire's sample rate. The call closes them. */
  readonly encoder: OpusEncoder;
  readonly decoder: OpusDecoder;
  readonly clock: Clock;
  /** Opens the peer connection, which reports to the listener. */
  openPeer(listener: PeerListener): Peer;
  readonly onFault: (fault: unknown) => void;
  /** Called once, when the peer connection has ended. */
  readonly onEnd: () => void;
}

/**
 * One conversation over WebRTC: connects a peer with a session that speaks OpenAI Realtime (GA). Events go both ways
 * over the data channel, audio over the tracks.
 */
export class Call implements Transport {
  readonly peer: Peer;
  readonly #parts: CallParts;
  readonly #incoming: IncomingSpeech;
  readonly #outgoing: OutgoingSpeech;
  readonly #replies: CallReplies;
  #connection: Connection | undefined;
  /** Events that wait for the data channel to open. Undefined if it is open, or if the client offers none. */
  #waiting: string[] | undefined;
  #waitingBytes = 0;

  constructor(parts: CallParts) {
    const { offer, encoder, decoder, clock } = parts;
    const { payloadType } = offer.audio;
    this.#parts = parts;
    this.#waiting = offer.hasEvents ? [] : undefined;
    this.peer = parts.openPeer({
      onOpen: () => this.#open(),
      onText: (text) => this.#receive(text),
      onBinary: () => this.#connection?.receiveBinary(),
      onPacket: (packet) => this.#incoming.receive(packet),
      onEnd: () => this.#end(),
      onFault: parts.onFault,
    });
    this.#incoming = new IncomingSpeech({
      payloadType,
      decoder,
      sampleRate: wireSampleRate,
      hear: (samples) => this.#connection?.receiveAudio(samples, wireSampleRate),
      now: () => clock.now(),
    });
    this.#outgoing = new OutgoingSpeech({
      encoder,
      clock,
      send: (packet) => this.peer.sendPacket(packet),
      tell: (event) => {
        this.#sendEvent({ event_id: newId('event'), ...event });
        this.#replies.notePlayout(event);
      },
      onFault: parts.onFault,
    });
    this.#replies = new CallReplies({
      outgoing: this.#outgoing,
      ask: (event) => this.#connection?.receive(JSON.stringify(event)),
    });
  }

  /** Connects the peer with this session. */
  connect(connection: Connection): void {
    this.#connection = connection;
  }

  /** Takes a frame of the session: an event, or audio. Returns false if the client has stopped reading. */
  send(frame: string | Uint8Array): boolean {
    if (typeof frame !== 'string') {
      this.#replies.play(frame);
      return true;
    }
    const event = JSON.parse(frame) as WireEvent;
    const isRead = isAboutPlaying(event) || this.#sendText(frame, event);
    this.#replies.take(event);
    return isRead;
  }

  /** Ends the call when the session has ended. */
  close(reason: 'replaced' | CloseReason): void {
    this.#outgoing.close();
    if (reason === 'client_too_slow') this.peer.end();
    else this.peer.endSoon();
  }

  #open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const text of waiting) this.peer.sendText(text);
  }

  #receive(text: string): void {
    // The cheap check first, so that few events are parsed twice.
    if (text.includes('output_audio_buffer.clear') && typeOf(text) === 'output_audio_buffer.clear')
      return this.#replies.clear();
    this.#connection?.receive(text);
  }

  #sendEvent(event: Readonly<Record<string, unknown>>): boolean {
    return this.#sendText(JSON.stringify(event), event);
  }

  #sendText(text: string, event: Readonly<Record<string, unknown>>): boolean {
    if (this.#waiting !== undefined) {
      this.#waiting.push(text);
      this.#waitingBytes += text.length;
      return this.#waitingBytes <= limits.unsentBytes;
    }
    const { mostBytes } = this.peer;
    if (Buffer.byteLength(text) <= mostBytes) return this.peer.sendText(text);
    const short = JSON.stringify(withoutAudio(event));
    if (Buffer.byteLength(short) <= mostBytes) return this.peer.sendText(short);
    const message = `An event (${String(event['type'])}) is larger than the data channel’s limit of ${mostBytes} bytes.`;
    const error = errorObject({ code: 'message_too_large', message });
    return this.peer.sendText(JSON.stringify({ type: 'error', event_id: newId('event'), error }));
  }

  #end(): void {
    this.#outgoing.close();
    this.#parts.encoder.close();
    this.#parts.decoder.close();
    this.#parts.onEnd();
  }
}

/** Pausing and resuming playback is done by the server; WebRTC clients do not know these events. */
function isAboutPlaying({ type }: WireEvent): boolean {
  return type === 'x_dramatis.hold' || type === 'x_dramatis.resume';
}

function typeOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** A retrieved item may hold a lot of audio in base64. Drops the audio and keeps the transcript. */
function withoutAudio(event: Readonly<Record<string, unknown>>): unknown {
  const isItem = event['type'] === 'conversation.item.retrieved';
  return isItem ? JSON.parse(JSON.stringify(event, (key, value: unknown) => (key === 'audio' ? null : value))) : event;
}
