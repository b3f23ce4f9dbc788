import type { ServerEvent } from '../../protocol/server-events.ts';
import type { OpusDecoder, OpusEncoder } from '../../../voices/dsp/opus.ts';
import { errorObject } from '../../session/contract/errors.ts';
import type { SessionPeer } from '../../connections/open-session.ts';
import type { CloseReason } from '../../connections/socket-transport.ts';
import { limits, wireSampleRate } from '../../protocol/limits.ts';
import type { Connection } from '../../realtime/connection.ts';
import { newId, type OutgoingAudio } from '../../realtime/encode.ts';
import type { Clock } from '../../session/contract/clock.ts';
import { CallReplies } from './call-replies.ts';
import { IncomingSpeech } from './incoming-speech.ts';
import type { Offer } from './offer.ts';
import { OutgoingSpeech } from './outgoing-speech.ts';
import type { PeerConnection, PeerListener } from './peer.ts';

export interface CallParts {
  readonly offer: Offer;
  /** Both at the wire's sample rate. The call closes them. */
  readonly encoder: OpusEncoder;
  readonly decoder: OpusDecoder;
  readonly clock: Clock;
  openPeer(listener: PeerListener): PeerConnection;
  readonly onFault: (fault: unknown) => void;
  /** Called once, when the peer connection has ended. */
  readonly onEnd: () => void;
}

/** One conversation over WebRTC: connects a peer with a session. Events use the data channel, audio the tracks. */
export class Call implements SessionPeer {
  readonly peer: PeerConnection;
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
      onText: (text) => this.#connection?.receiveText(text),
      onBinary: () => this.#connection?.reject(),
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
      ask: (event) => this.#connection?.receive(event),
    });
  }

  connect(connection: Connection): void {
    this.#connection = connection;
  }

  /** Takes an event of the session. Returns false if the client has stopped reading. */
  send(event: ServerEvent): boolean {
    // Pausing and resuming playback is done by the server; WebRTC clients do not know these events.
    const isRead = event.type === 'x_dramatis.hold' || event.type === 'x_dramatis.resume' || this.#sendEvent(event);
    this.#replies.take(event);
    return isRead;
  }

  sendAudio({ responseId, samples }: OutgoingAudio): boolean {
    this.#replies.play(responseId, samples);
    return true;
  }

  /** Takes the one client event that is about the playout of the call itself. */
  admits(message: unknown): boolean {
    const isClear = (message as { type?: unknown } | null)?.type === 'output_audio_buffer.clear';
    if (isClear) this.#replies.clear();
    return !isClear;
  }

  /** Ends the call when the session has ended. */
  close(reason: CloseReason): void {
    this.#outgoing.close();
    if (reason === 'client_too_slow') this.peer.end();
    else this.peer.endSoon();
  }

  #open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const text of waiting) this.peer.sendText(text);
  }

  #sendEvent(event: ServerEvent): boolean {
    const text = JSON.stringify(event);
    if (this.#waiting !== undefined) {
      this.#waiting.push(text);
      this.#waitingBytes += text.length;
      return this.#waitingBytes <= limits.unsentBytes;
    }
    const { mostBytes } = this.peer;
    if (Buffer.byteLength(text) <= mostBytes) return this.peer.sendText(text);
    const short =
      event.type === 'conversation.item.retrieved'
        ? JSON.stringify(event, (key, value: unknown) => (key === 'audio' ? null : value))
        : text;
    if (Buffer.byteLength(short) <= mostBytes) return this.peer.sendText(short);
    const message = `An event (${event.type}) is larger than the data channel’s limit of ${mostBytes} bytes.`;
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
