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
import type { IceSettings } from './ice.ts';
import type { Offer } from './offer.ts';
import type { OutgoingPacket, RtpPacket } from './rtp.ts';

/** Label of the event data channel, as named by OpenAI. */
const channelLabel = 'oai-events';
/** Longest event a client may send: the default of browsers. */
const messageBytes = 256 * 1024;
/** Time within which a client that got its answer must connect. */
const connectMs = 30_000;
/** Delay before closing, so that the last packets can arrive. */
const lingerMs = 250;

/** Callbacks for what the peer sends. None is called after `onEnd`. */
export interface PeerListener {
  /** The data channel is open; events can be sent. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  readonly onBinary: () => void;
  readonly onPacket: (packet: RtpPacket) => void;
  /** Audio can be sent. */
  readonly onConnect: () => void;
  /** Anything of the client arrived that is not covered by the others. */
  readonly onSign: () => void;
  /** The connection has ended: a side has closed it, or the client is silent. */
  readonly onEnd: (because: 'closed' | 'lost') => void;
  /** An internal fault, or an exception of one of these callbacks. */
  readonly onFault: (fault: unknown) => void;
}

/** Addresses of the two ends. */
export interface PeerRoute {
  readonly reach: IceSettings;
  /** Our UDP port, if it was chosen here. */
  readonly port: number | undefined;
  /** The client's address as its request shows it. A TURN relay needs it to admit the client's packets. */
  readonly clientAddress: string;
}

/** The client's end of a WebRTC connection: an audio track each way and a data channel for events. */
export class PeerConnection {
  /** Resolves once its sockets are closed. */
  readonly closed: Promise<void>;
  readonly #listener: PeerListener;
  readonly #way: PeerRoute;
  readonly #connection: RTCPeerConnection;
  readonly #patience: NodeJS.Timeout;
  #transceiver: RTCRtpTransceiver | undefined;
  #channel: RTCDataChannel | undefined;
  #linger: NodeJS.Timeout | undefined;
  #ended = false;
  #settle: () => void;

  constructor(way: PeerRoute, listener: PeerListener) {
    this.#way = way;
    this.#listener = listener;
    ({ promise: this.closed, resolve: this.#settle } = Promise.withResolvers<void>());
    const parameters = 'minptime=10;useinbandfec=1';
    const opus = new RTCRtpCodecParameters({ mimeType: 'audio/opus', clockRate: 48_000, channels: 2, parameters });
    this.#connection = new RTCPeerConnection({
      codecs: { audio: [opus], video: [] },
      maxMessageSize: messageBytes,
      ...way.reach.settings,
      // The library rejects a range with equal ends; it counts in whole steps.
      ...(way.port === undefined ? {} : { icePortRange: [way.port, way.port + 0.5] }),
    });
    this.#patience = setTimeout(() => this.end('lost'), connectMs);
    this.#connection.connectionStateChange.subscribe((state) => {
      if (state === 'connected') {
        clearTimeout(this.#patience);
        this.#tell((to) => to.onConnect());
      } else if (state === 'closed') this.end();
      // Failed: no response for half a minute (RFC 7675).
      else if (state === 'disconnected' || state === 'failed') this.end('lost');
    });
    this.#connection.onDataChannel.subscribe((channel) => this.#useChannel(channel));
    this.#connection.onTrack.subscribe((track) => {
      track.onReceiveRtp.subscribe(({ header, payload }) => {
        const { payloadType, sequenceNumber: sequence, timestamp, ssrc: source } = header;
        this.#tell((to) => to.onPacket({ payloadType, sequence, timestamp, source, payload }));
      });
    });
  }

  /** Returns the SDP answer, with all our addresses. */
  async answer(offer: Offer): Promise<string | Problem> {
    const connection = this.#connection;
    try {
      await connection.setRemoteDescription({ type: 'offer', sdp: offer.sdp });
      // Each transport would take a socket, and they would contend for the one port of the call.
      if (connection.dtlsTransports.length > 1) return unbundled;
      if (offer.clientStartsDtls) for (const transport of connection.dtlsTransports) transport.role = 'server';
      await this.#prepareGathering(offer);
      this.#transceiver = connection.getTransceivers().find(({ mid }) => mid === offer.audio.mid);
      const voice = new MediaStreamTrack({ kind: 'audio' });
      await this.#transceiver?.sender.replaceTrack(voice);
      this.#transceiver?.sender.onRtcp.subscribe(() => this.#tell((to) => to.onSign()));
      // Clients play tracks that belong to a stream.
      this.#transceiver?.sender.setStreams([new MediaStream([voice])]);
      const { sends, receives } = offer.audio;
      this.#transceiver?.setDirection(
        sends ? (receives ? 'sendrecv' : 'recvonly') : receives ? 'sendonly' : 'inactive',
      );
      await connection.setLocalDescription(await connection.createAnswer());
      // A client that hangs up says so in DTLS; the connection state would show it half a minute later.
      for (const transport of connection.dtlsTransports) {
        transport.onStateChange.subscribe((state) => void (state === 'closed' && this.end()));
      }
    } catch {
      return {
        code: 'invalid_value',
        message: 'The offer cannot be answered, because its SDP is invalid.',
        param: 'sdp',
      };
    }
    const sdp = this.#ended ? undefined : connection.localDescription?.sdp;
    if (sdp !== undefined && !sdp.includes('\na=candidate:')) return nowhere;
    return sdp ?? { code: 'internal_error', message: 'The offer could not be answered.' };
  }

  /** Sends an event; it is dropped if no channel is open. Returns false if the client has stopped reading. */
  sendText(text: string): boolean {
    const channel = this.#channel;
    if (this.#ended || channel?.readyState !== 'open') return true;
    if (channel.bufferedAmount > limits.unsentBytes) return false;
    this.#attempt(() => channel.send(text));
    return true;
  }

  /** Most bytes that the client accepts in one event. */
  get mostBytes(): number {
    const most = this.#channel?.sctp.remoteMaxMessageSize ?? 0;
    return most === 0 ? Number.POSITIVE_INFINITY : most;
  }

  /** Sends a packet of the audio track; it is dropped if the client wants no audio. */
  sendPacket({ sequence, timestamp, marker, payload }: OutgoingPacket): void {
    const sender = this.#transceiver?.sender;
    if (this.#ended || sender === undefined) return;
    const header = new RtpHeader({ sequenceNumber: sequence, timestamp, marker });
    const packet = new WireRtpPacket(header, Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
    this.#attempt(() => sender.sendRtp(packet));
  }

  /** Closes the connection after a short delay, so that the last packets can arrive. */
  endSoon(): void {
    this.#linger ??= setTimeout(() => this.end(), lingerMs);
  }

  end(because: 'closed' | 'lost' = 'closed'): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#linger);
    clearTimeout(this.#patience);
    this.#attempt(async () => this.#connection.close().finally(this.#settle));
    this.#listener.onEnd(because);
  }

  async #prepareGathering({ audio }: Offer): Promise<void> {
    const { reach, clientAddress } = this.#way;
    for (const { iceTransport } of this.#connection.dtlsTransports) {
      // Without a configured STUN server, the library would use one of Google's.
      if (reach.settings.iceServers?.length === 0) delete iceTransport.connection.stunServer;
    }
    // Relays allocate IPv4 addresses unless asked for others.
    if (!reach.isRelayed || !isIPv4(clientAddress)) return;
    // A relay admits the client's packets only after something was sent to the client's address; any port will do (9:
    // discard).
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
      // Closing the event channel ends the call; some clients hang up in no other way.
      else if (state === 'closed') this.end();
    };
    channel.stateChange.subscribe(onState);
    onState(channel.readyState);
  }

  /** Keeps exceptions of the listener from reaching the library, or the socket behind it. */
  #tell(about: (to: PeerListener) => void): void {
    if (this.#ended) return;
    try {
      about(this.#listener);
    } catch (fault) {
      this.#listener.onFault(fault);
    }
  }

  /** Runs an action that may fail. A failure is ignored if the connection is lost, even if that is not reported yet. */
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
  message: 'The offer does not bundle its media sections. Bundle them (a=group:BUNDLE).',
  param: 'sdp',
};

const nowhere: Problem = {
  code: 'webrtc_unavailable',
  message: 'The server has no UDP address for the call. Check its WebRTC settings (README, “Calls”).',
};
