import { randomBytes, randomInt } from 'node:crypto';
import type { DataChannel, PeerConnection, Track } from 'node-datachannel';
import { limits } from '../protocol/limits.ts';
import type { Problem } from '../session/events.ts';
import type { Library } from './library.ts';
import { withCandidate, type Offer } from './offer.ts';

/** The data channel that carries events, as OpenAI names it. */
const channelLabel = 'oai-events';
/** Finding our own addresses takes a few milliseconds; where one does not answer, the others have to do. */
const gatheringMs = 2_000;
/** A client that has its answer and does not connect in this time has gone. */
const connectMs = 30_000;
/** What has been sent last may still be on its way when we hang up. */
const lingerMs = 250;

/** Peers that the library has not closed altogether. */
const unclosed = new Set<Peer>();

/** Told of what comes from the other end. Nothing is told any more after `onEnd`. */
export interface PeerListener {
  /** Events can be sent from now on. */
  onOpen(): void;
  onText(text: string): void;
  onBinary(): void;
  /** A packet of the audio track. */
  onPacket(packet: Uint8Array): void;
  /** The connection is over, whoever ended it. */
  onEnd(): void;
  /** A fault in one of the above. */
  onFault(fault: unknown): void;
}

/** The other end of a WebRTC connection, which it offered: an audio track each way and a channel for events. */
export class Peer {
  /** Names our audio stream. */
  readonly source = randomInt(1, 2 ** 32);
  readonly #library: Library;
  readonly #listener: PeerListener;
  readonly #connection: PeerConnection;
  #track: Track | undefined;
  #channel: DataChannel | undefined;
  #ended = false;
  /** What the library has made for us and has not closed. */
  readonly #parts = new Set<PeerConnection | Track | DataChannel>();
  #linger: NodeJS.Timeout | undefined;
  readonly #patience: NodeJS.Timeout;

  constructor(library: Library, name: string, listener: PeerListener) {
    this.#library = library;
    this.#listener = listener;
    this.#connection = new library.PeerConnection(name, { iceServers: [], disableAutoNegotiation: true });
    this.#patience = setTimeout(() => this.end(), connectMs);
    this.#hold(this.#connection);
    this.#connection.onStateChange((state) => {
      if (state === 'closed') this.#letGo(this.#connection);
      if (state === 'connected') clearTimeout(this.#patience);
      if (state === 'disconnected' || state === 'failed' || state === 'closed') this.end();
    });
    this.#connection.onDataChannel((channel) => this.#useChannel(channel));
  }

  /** Answers the offer, in SDP, with every address of ours; `address` is one by which the client has reached us. */
  async answer(offer: Offer, address: string | undefined): Promise<string | Problem> {
    const connection = this.#connection;
    const gathered = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gatheringMs);
      connection.onGatheringStateChange((state) => {
        if (state !== 'complete') return;
        clearTimeout(timer);
        resolve();
      });
    });
    try {
      this.#track = this.#addTrack(offer.audio);
      connection.setRemoteDescription(offer.sdp, 'offer');
      connection.setLocalDescription('answer');
    } catch {
      return { code: 'invalid_value', message: 'The offer cannot be answered: its SDP is broken.', param: 'sdp' };
    }
    await gathered;
    const sdp = this.#ended ? undefined : connection.localDescription()?.sdp;
    if (sdp === undefined) return { code: 'internal_error', message: 'The offer could not be answered.' };
    return address === undefined ? sdp : withCandidate(sdp, address);
  }

  /** Sends an event; without an open channel it is dropped. Returns false where the client has stopped reading. */
  sendText(text: string): boolean {
    const channel = this.#channel;
    return this.#ended || channel === undefined || attempt(() => sendPaced(channel, text), true);
  }

  /** Bytes that fit into one event. */
  get mostBytes(): number {
    const channel = this.#channel;
    if (this.#ended || channel === undefined) return Number.POSITIVE_INFINITY;
    return attempt(() => channel.maxMessageSize(), Number.POSITIVE_INFINITY);
  }

  /** Sends a packet of the audio track; where the client wants none, it is dropped. */
  sendPacket(packet: Buffer): void {
    const track = this.#track;
    if (this.#ended || track === undefined) return;
    attempt(() => track.isOpen() && track.sendMessageBinary(packet), false);
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
    for (const part of [...this.#parts].toReversed()) attempt(() => part.close(), undefined);
    this.#listener.onEnd();
  }

  #addTrack({ mid, payloadType, sends, receives }: Offer['audio']): Track {
    const direction = sends && receives ? 'SendRecv' : sends ? 'RecvOnly' : receives ? 'SendOnly' : 'Inactive';
    const audio = new this.#library.Audio(mid, direction);
    audio.addOpusCodec(payloadType, 'minptime=10;useinbandfec=1');
    const stream = randomBytes(9).toString('base64url');
    audio.addSSRC(this.source, stream, stream, 'voice');
    const track = this.#connection.addTrack(audio);
    this.#hold(track);
    track.onClosed(() => this.#letGo(track));
    // Tells the sender how its packets arrive.
    track.setMediaHandler(new this.#library.RtcpReceivingSession());
    track.onMessage((packet) => this.#tell((listener) => listener.onPacket(packet)));
    return track;
  }

  #useChannel(channel: DataChannel): void {
    this.#hold(channel);
    channel.onClosed(() => this.#letGo(channel));
    if (this.#ended || this.#channel !== undefined || channel.getLabel() !== channelLabel) return channel.close();
    this.#channel = channel;
    const open = (): void => this.#tell((listener) => listener.onOpen());
    channel.onMessage((message) =>
      this.#tell((listener) => (typeof message === 'string' ? listener.onText(message) : listener.onBinary())),
    );
    if (channel.isOpen()) open();
    else channel.onOpen(open);
  }

  /**
   * Everything the library makes must be held until it says that it is closed, which it does if it is asked to tell: it frees
   * what it needs for telling only then, and lets nobody know when it was collected before.
   */
  #hold(part: PeerConnection | Track | DataChannel): void {
    this.#parts.add(part);
    unclosed.add(this);
  }

  #letGo(part: PeerConnection | Track | DataChannel): void {
    this.#parts.delete(part);
    // What the other end has closed is not free before we have closed it, too.
    attempt(() => part.close(), undefined);
    if (this.#parts.size === 0) unclosed.delete(this);
  }

  /** A fault in here would end the process: the library calls us from outside. */
  #tell(about: (listener: PeerListener) => void): void {
    if (this.#ended) return;
    try {
      about(this.#listener);
    } catch (fault) {
      this.#listener.onFault(fault);
    }
  }
}

function sendPaced(channel: DataChannel, text: string): boolean {
  if (!channel.isOpen()) return true;
  if (channel.bufferedAmount() > limits.unsentBytes) return false;
  channel.sendMessage(text);
  return true;
}

/** The other end may have gone a moment ago, of which we have yet to be told: then what is done to it comes to nothing. */
function attempt<Result>(action: () => Result, otherwise: Result): Result {
  try {
    return action();
  } catch {
    return otherwise;
  }
}
