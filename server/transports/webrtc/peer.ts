import { isIPv4 } from 'node:net';
import {
  MediaStream,
  MediaStreamTrack,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RtpHeader,
  RtpPacket as WireRtpPacket,
  type RTCDataChannel,
  type RTCRtpTransceiver,
} from 'werift';
import { limits } from '../../protocol/limits.ts';
import type { Problem } from '../../session/contract/events.ts';
import type { Reach } from './ice.ts';
import type { Offer } from './offer.ts';
import type { OutgoingPacket, RtpPacket } from './rtp.ts';

/** The data channel that carries events, as OpenAI names it. */
const channelLabel = 'oai-events';
/** Longest event a client may send: what browsers send without being asked. */
const messageBytes = 256 * 1024;
/** A client that has its answer and does not connect in this time has gone. */
const connectMs = 30_000;
/** What has been sent last may still be on its way when we hang up. */
const lingerMs = 250;

/** Told of what comes from the other end. Nothing is told any more after `onEnd`. */
export interface PeerListener {
  /** Events can be sent from now on. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  readonly onBinary: () => void;
  /** A packet of the audio track. */
  readonly onPacket: (packet: RtpPacket) => void;
  /** The connection is over, whoever ended it. */
  readonly onEnd: () => void;
  /** Something went wrong in here, or in one of the above. */
  readonly onFault: (fault: unknown) => void;
}

/** How the two ends are to meet. */
export interface PeerWay {
  readonly reach: Reach;
  /** Our UDP port, where it has been chosen. */
  readonly port: number | undefined;
  /** Where the client is, as far as its request tells: a relay lets nobody in unasked. */
  readonly clientAddress: string;
}

/** The other end of a WebRTC connection, which it offered: an audio track each way and a channel for events. */
export class Peer {
  /** Resolves once its sockets are closed. */
  readonly closed: Promise<void>;
  readonly #listener: PeerListener;
  readonly #way: PeerWay;
  readonly #connection: RTCPeerConnection;
  readonly #patience: NodeJS.Timeout;
  #transceiver: RTCRtpTransceiver | undefined;
  #channel: RTCDataChannel | undefined;
  #linger: NodeJS.Timeout | undefined;
  #ended = false;
  #settle: () => void;

  constructor(way: PeerWay, listener: PeerListener) {
    this.#way = way;
    this.#listener = listener;
    ({ promise: this.closed, resolve: this.#settle } = Promise.withResolvers<void>());
    const parameters = 'minptime=10;useinbandfec=1';
    const opus = new RTCRtpCodecParameters({ mimeType: 'audio/opus', clockRate: 48_000, channels: 2, parameters });
    this.#connection = new RTCPeerConnection({
      codecs: { audio: [opus], video: [] },
      maxMessageSize: messageBytes,
      ...way.reach.settings,
      // Ends that are the same it takes for a mistake; it counts in whole steps.
      ...(way.port === undefined ? {} : { icePortRange: [way.port, way.port + 0.5] }),
    });
    this.#patience = setTimeout(() => this.end(), connectMs);
    this.#connection.connectionStateChange.subscribe((state) => {
      if (state === 'connected') clearTimeout(this.#patience);
      // Failed: it has not answered for half a minute (RFC 7675).
      else if (state === 'disconnected' || state === 'failed' || state === 'closed') this.end();
    });
    this.#connection.onDataChannel.subscribe((channel) => this.#useChannel(channel));
    this.#connection.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe(({ header, payload }) => {
        const { payloadType, sequenceNumber: sequence, timestamp, ssrc: source } = header;
        this.#tell((to) => to.onPacket({ payloadType, sequence, timestamp, source, payload }));
      });
    });
  }

  /** Answers the offer, in SDP, with every address of ours. */
  async answer(offer: Offer): Promise<string | Problem> {
    const connection = this.#connection;
    try {
      await connection.setRemoteDescription({ type: 'offer', sdp: offer.sdp });
      // Each would take a socket, and they would contend for the one port that a call may have.
      if (connection.dtlsTransports.length > 1) return unbundled;
      if (offer.letsUsWait) for (const transport of connection.dtlsTransports) transport.role = 'server';
      await this.#prepareGathering(offer);
      this.#transceiver = connection.getTransceivers().find(({ mid }) => mid === offer.audio.mid);
      const voice = new MediaStreamTrack({ kind: 'audio' });
      await this.#transceiver?.sender.replaceTrack(voice);
      // Clients play what comes as a stream.
      this.#transceiver?.sender.setStreams([new MediaStream([voice])]);
      const { sends, receives } = offer.audio;
      this.#transceiver?.setDirection(
        sends ? (receives ? 'sendrecv' : 'recvonly') : receives ? 'sendonly' : 'inactive',
      );
      await connection.setLocalDescription(await connection.createAnswer());
      // A client that hangs up says so in DTLS; the state of the connection would show it half a minute later.
      for (const transport of connection.dtlsTransports) {
        transport.onStateChange.subscribe((state) => void (state === 'closed' && this.end()));
      }
    } catch {
      return { code: 'invalid_value', message: 'The offer cannot be answered: its SDP is broken.', param: 'sdp' };
    }
    const sdp = this.#ended ? undefined : connection.localDescription?.sdp;
    if (sdp !== undefined && !sdp.includes('\na=candidate:')) return nowhere;
    return sdp ?? { code: 'internal_error', message: 'The offer could not be answered.' };
  }

  /** Sends an event; without an open channel it is dropped. Returns false where the client has stopped reading. */
  sendText(text: string): boolean {
    const channel = this.#channel;
    if (this.#ended || channel?.readyState !== 'open') return true;
    if (channel.bufferedAmount > limits.unsentBytes) return false;
    this.#attempt(() => channel.send(text));
    return true;
  }

  /** Bytes that the other end takes in one event. */
  get mostBytes(): number {
    const most = this.#channel?.sctp.remoteMaxMessageSize ?? 0;
    return most === 0 ? Number.POSITIVE_INFINITY : most;
  }

  /** Sends a packet of the audio track; where the client wants none, it is dropped. */
  sendPacket({ sequence, timestamp, marker, payload }: OutgoingPacket): void {
    const sender = this.#transceiver?.sender;
    if (this.#ended || sender === undefined) return;
    const header = new RtpHeader({ sequenceNumber: sequence, timestamp, marker });
    const packet = new WireRtpPacket(header, Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
    this.#attempt(() => sender.sendRtp(packet));
  }

  /** Hangs up, once what has been sent has had a moment to arrive. */
  endSoon(): void {
    this.#linger ??= setTimeout(() => this.end(), lingerMs);
  }

  /** Hangs up. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#linger);
    clearTimeout(this.#patience);
    this.#attempt(async () => this.#connection.close().finally(this.#settle));
    this.#listener.onEnd();
  }

  async #prepareGathering({ audio }: Offer): Promise<void> {
    const { reach, clientAddress } = this.#way;
    for (const { iceTransport } of this.#connection.dtlsTransports) {
      // Told of no STUN server, the library asks one of Google's.
      if (reach.settings.iceServers?.length === 0) delete iceTransport.connection.stunServer;
    }
    // Relays that are not asked for more have IPv4 addresses.
    if (!reach.isRelayed || !isIPv4(clientAddress)) return;
    // Only what is sent to the client, to whichever port (9: discard), has the relay let its packets in.
    const candidate = `candidate:1 1 udp 1 ${clientAddress} 9 typ host`;
    await this.#connection.addIceCandidate({ candidate, sdpMid: audio.mid });
  }

  #useChannel(channel: RTCDataChannel): void {
    if (this.#ended || this.#channel !== undefined || channel.label !== channelLabel) return;
    this.#channel = channel;
    channel.onMessage.subscribe((message) =>
      this.#tell((to) => (typeof message === 'string' ? to.onText(message) : to.onBinary())),
    );
    const onState = (state: RTCDataChannel['readyState']): void => {
      if (state === 'open') this.#tell((to) => to.onOpen());
      // Whoever wants no more events wants no more of the call; some clients say goodbye in no other way.
      else if (state === 'closed') this.end();
    };
    channel.stateChange.subscribe(onState);
    onState(channel.readyState);
  }

  /** A fault in here must not reach the library, or the socket behind it. */
  #tell(about: (to: PeerListener) => void): void {
    if (this.#ended) return;
    try {
      about(this.#listener);
    } catch (fault) {
      this.#listener.onFault(fault);
    }
  }

  /** The other end may have gone a moment ago, of which we have yet to be told: then what is sent to it comes to nothing. */
  #attempt(action: () => void | Promise<void>): void {
    const excuse = (fault: unknown): void => {
      if (!this.#ended && this.#connection.connectionState === 'connected') this.#listener.onFault(fault);
    };
    try {
      void action()?.catch(excuse);
    } catch (fault) {
      excuse(fault);
    }
  }
}

const unbundled: Problem = {
  code: 'invalid_value',
  message: 'The offer wants a connection for each of its sections. Bundle them (a=group:BUNDLE).',
  param: 'sdp',
};

const nowhere: Problem = {
  code: 'webrtc_unavailable',
  message: 'The server has no address for the call. Whoever runs it looks at its WebRTC settings (README, “Calls”).',
};
