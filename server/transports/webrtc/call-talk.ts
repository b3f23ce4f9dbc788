import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionPeer } from '../../connections/open-session.ts';
import type { CloseReason } from '../../connections/socket-transport.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import type { ServerEvent } from '../../protocol/server-events.ts';
import type { Connection } from '../../realtime/connection.ts';
import { newId, type OutgoingAudio } from '../../realtime/encode.ts';
import type { Clock } from '../../session/contract/clock.ts';
import type { ResumableStream } from '../../connections/resumable-stream.ts';
import { CallReplies } from './call-replies.ts';
import type { Call, CallUser } from './call.ts';
import { OutgoingSpeech } from './outgoing-speech.ts';

/** A lost client is noticed after half a minute; of the audio played since, so much is played again. */
const rewindMs = 10_000;
/** Longest time that a session which moves to another server stays here for audio that is still playing. */
const mostTailMs = 1_000;

export interface CallTalkParts {
  readonly call: Call;
  /** Numbers the events, and passes them to the call. */
  readonly link: Pick<ResumableStream, 'send' | 'admits' | 'kept' | 'close' | 'detach' | 'beforeReply'>;
  readonly clock: Clock;
  readonly onFault: (fault: unknown) => void;
  /** Has the session wait for its client. Returns false if it does not wait. Absent: the client cannot resume. */
  readonly leave?: (() => boolean) | undefined;
}

/** A session's conversation over WebRTC: events and speech, over one call, or over another one if the first one breaks. */
export class CallTalk implements SessionPeer, CallUser {
  readonly #parts: CallTalkParts;
  readonly #outgoing: OutgoingSpeech;
  readonly #replies: CallReplies;
  #connection: Connection | undefined;
  #call: Call | undefined;
  /** A call has been connected. */
  #hasBegun = false;
  /** The session has moved, and its last audio is still being played. */
  #playsOut = false;
  #silence = Promise.resolve();

  constructor(parts: CallTalkParts) {
    const { call, clock, onFault, leave } = parts;
    const isResumable = leave !== undefined;
    this.#parts = parts;
    this.#outgoing = new OutgoingSpeech({
      frameSamples: call.encoder.frameSamples,
      clock,
      tell: (event, playedSamples) => {
        this.#tell({ event_id: newId('event'), ...event });
        this.#replies.notePlayout(event, playedSamples);
      },
      onPlayed: isResumable ? (played) => this.#replies.notePlayed(played) : undefined,
      rewindMs: isResumable ? rewindMs : 0,
      onFault,
    });
    this.#replies = new CallReplies({
      outgoing: this.#outgoing,
      ask: (event) => this.#connection?.receive(event),
      reportsEnd: isResumable,
    });
    this.attach(call);
  }

  connect(connection: Connection): void {
    this.#connection = connection;
  }

  /** Continues over another call. */
  attach(call: Call): void {
    const before = this.#call;
    this.#call = call;
    this.#rewind(before);
    call.user = this;
    call.tellsEnd = this.#parts.leave !== undefined;
    if (call.isConnected) this.connected(call);
  }

  /** Takes an event of the session. Returns false if the client has stopped reading. */
  send(event: ServerEvent): boolean {
    // Pausing and resuming playback is done by the server; WebRTC clients do not know these events.
    const isHidden = event.type === 'x_dramatis.hold' || event.type === 'x_dramatis.resume';
    const isRead = isHidden || this.#parts.link.send(event);
    this.#replies.take(event);
    return isRead;
  }

  sendAudio({ responseId, samples }: OutgoingAudio): boolean {
    this.#replies.play(responseId, samples);
    return true;
  }

  get kept(): SessionPeer['kept'] {
    return this.#parts.link.kept;
  }

  beforeReply(replyId: string): Promise<void> {
    return this.#parts.link.beforeReply(replyId);
  }

  /** Takes the client events that are about the line itself: numbers, and the playout of the call. */
  admits(message: unknown): boolean {
    if (!this.#parts.link.admits(message)) return false;
    const isClear = (message as { type?: unknown } | null)?.type === 'output_audio_buffer.clear';
    if (isClear) this.#replies.clear();
    return !isClear;
  }

  /** A reply that is complete is played to its end; another server says the rest of any other. */
  leaving(): void {
    this.#playsOut = !this.#replies.isSpeaking && this.#outgoing.isPlaying;
    if (this.#playsOut) for (const played of this.#outgoing.waiting()) this.#replies.notePlayed(played);
  }

  /** Ends the call when the session has ended. */
  close(reason: CloseReason): void {
    const end = (): void => {
      this.#outgoing.close();
      this.#parts.link.close(reason);
    };
    if (reason !== 'moved' || !this.#playsOut) return end();
    this.#silence = Promise.race([this.#outgoing.idle(), sleep(mostTailMs)]).then(end);
  }

  /** Settles when a session that has ended has nothing more to play. */
  get silence(): Promise<void> {
    return this.#silence;
  }

  text(text: string): void {
    this.#connection?.receiveText(text);
  }

  binary(): void {
    this.#connection?.reject();
  }

  hear(samples: Float32Array): void {
    this.#connection?.receiveAudio(samples, wireSampleRate);
  }

  connected(call: Call): void {
    this.#hasBegun = true;
    this.#outgoing.attach({ encoder: call.encoder, send: call.sendPacket });
  }

  ended(call: Call, because: 'closed' | 'lost'): void {
    this.#call = undefined;
    const { link, leave } = this.#parts;
    this.#rewind(call);
    link.detach(call);
    const waits = because === 'lost' && this.#hasBegun && leave?.() === true;
    if (waits) return;
    this.#outgoing.close();
    this.#connection?.close();
  }

  /** The next server numbers events from where the session left. */
  #tell(event: ServerEvent): void {
    if (this.#playsOut) this.#call?.send(JSON.stringify(event));
    else this.#parts.link.send(event);
  }

  /** Sound that nobody can have heard over a call is played again over the next one. */
  #rewind(call: Call | undefined): void {
    if (call === undefined) return;
    for (const played of this.#outgoing.detach(call.signMs)) this.#replies.notePlayed(played);
  }
}
