import { decodeFrame } from './binary-frame.js';
import { platformClock } from './clock.js';
import { Connection } from './connection.js';
import { queryOf } from './dial.js';
import { Heartbeat } from './heartbeat.js';
import { Inbox } from './inbox.js';
import { OrderedQueue } from './ordered-queue.js';
import { Outbox } from './outbox.js';
import { FrameWriter } from './frame-writer.js';
import { AudioEvents } from './audio-events.js';
import { parseEvent } from './wire-event.js';

/** @import { ClientEvent, ConnectionEvent, OpusCodec, OpusEncoder, Resumption, TalkClock, TalkSocket } from '../types/api.d.ts' */
/** @import { ServerEvent, Session, AudioEvent } from '../types/api.d.ts' */

/** @import { Query } from './dial.js' */
/** @import { WireEvent } from './wire-event.js' */

/** Above this, frames wait in the outbox instead of the socket, where they could not be resent. */
const MOST_BUFFERED_BYTES = 128 * 1024;

/** Error codes that are handled here and not passed on. */
const OWN_ERRORS = new Set(['session_not_resumable', 'resume_not_allowed']);

/**
 * Reliable stream over reconnecting sockets: numbers frames in both directions and resumes after a loss, so that each
 * arrives exactly once and in order. Starts a new session if the old one is gone.
 */
export class ResumableConnection {
  #options;
  #connection;
  #inbox = new Inbox();
  #outbox;
  #outgoing = new FrameWriter((audioMs, write) => this.#push(audioMs, write));
  /** Keeps events behind audio that is still being decoded: the Opus decoder is asynchronous. */
  #telling = new OrderedQueue();
  /** @type {{ codec: OpusCodec, encoder: OpusEncoder } | undefined} */
  #opus;
  #sounds = new AudioEvents(undefined);
  #heartbeat;
  /** Resume token of the session, if it can be resumed. @type {string | undefined} */
  #token;
  /** @type {Session} */
  #session = {};
  #isOpen = false;
  #isClosed = false;
  /** True if the server supports the `x_dramatis` events. */
  #isOurs = false;
  /** True until the session of an earlier page is resumed. */
  #isAdopting = false;
  /** Last frame received on each side when the connection was last resumed. */
  #had = { here: 0, there: 0 };

  /**
   * @param {object} options
   * @param {(query: Query) => TalkSocket} options.dial
   * @param {() => Promise<'away' | 'busy' | 'well'>} options.diagnose
   * @param {string | undefined} options.character
   * @param {boolean | undefined} options.thoughts
   * @param {boolean | undefined} options.visemes
   * @param {number} options.keptAudioMs
   * @param {Resumption | undefined} [options.resumption]
   * @param {TalkClock | undefined} [options.clock]
   * @param {(event: ServerEvent) => void} options.onEvent
   * @param {(event: ConnectionEvent) => void} options.onStatus
   */
  constructor({ clock = platformClock, ...options }) {
    this.#options = options;
    this.#outbox = new Outbox(options.keptAudioMs);
    this.#connection = new Connection({
      clock,
      dial: () => options.dial(this.#query()),
      diagnose: options.diagnose,
      onFrame: (data) => this.#receive(data),
      onStatus: (status) => {
        this.#pause();
        if (status.type === 'connection.refused' || status.type === 'connection.replaced') this.#end();
        this.#tellStatus(status);
      },
    });
    const beats = {
      onBeat: () => {
        if (this.#token !== undefined) this.sendTransient({ type: 'x_dramatis.ack' });
        this.#pump();
      },
      onSilence: () => this.#connection.redial(),
    };
    this.#heartbeat = new Heartbeat(beats, clock);
    const { resumption } = options;
    if (resumption === undefined) return;
    this.#isAdopting = true;
    this.#token = resumption.token;
    this.#session = resumption.session;
    this.#inbox.adopt(resumption.received);
  }

  /** @returns {Resumption | undefined} undefined if the session cannot be resumed */
  get resumption() {
    if (this.#token === undefined) return undefined;
    return { token: this.#token, received: this.#inbox.last, session: this.#session };
  }

  /**
   * @param {{ codec: OpusCodec, encoder: OpusEncoder }} [opus] given if audio is to be sent and
   *   received as Opus
   */
  open(opus) {
    this.#opus = opus;
    if (!this.#isClosed) return this.#connection.open();
    this.#end();
    this.#tellStatus({ type: 'connection.closed' });
  }

  redial() {
    this.#connection.redial();
  }

  close() {
    this.#isClosed = true;
    this.#end();
    this.#connection.close();
  }

  /** Releases the resume token and the codecs: the session will not be resumed. */
  #end() {
    this.#token = undefined;
    this.#sounds.close();
    this.#opus?.encoder.close();
  }

  get #hasSession() {
    return (this.#token !== undefined && !this.#isAdopting) || this.#isOpen;
  }

  /**
   * Sends an event, now or after reconnecting.
   *
   * @param {ClientEvent} event
   * @returns {boolean} false if there is no session to send it to
   */
  send(event) {
    if (!this.#hasSession) return false;
    this.#outgoing.event(event);
    return true;
  }

  /**
   * Sends an `x_dramatis` event now or never; it would be worthless later. Not sent to servers
   * without the extensions.
   *
   * @param {ClientEvent} event
   */
  sendTransient(event) {
    if (!this.#isOpen || !this.#isOurs) return;
    this.#connection.send(
      JSON.stringify({ ...event, ...(this.#token === undefined ? {} : { x_ack: this.#inbox.last }) }),
    );
  }

  /**
   * Sends user audio, like `send`.
   *
   * @param {Uint8Array<ArrayBuffer>} pcm16
   * @param {number} player
   * @returns {boolean}
   */
  sendAudio(pcm16, player) {
    if (!this.#hasSession) return false;
    this.#outgoing.sound(pcm16, player);
    return true;
  }

  /**
   * @param {number} audioMs
   * @param {import('./frame-writer.js').Write} write
   */
  #push(audioMs, write) {
    if (this.#token === undefined) {
      if (this.#isOpen) this.#connection.send(write({}));
      return;
    }
    this.#outbox.add(audioMs, (sequence) => write({ x_seq: sequence, x_ack: this.#inbox.last }));
    this.#pump();
  }

  #pump() {
    while (this.#isOpen && this.#connection.bufferedBytes < MOST_BUFFERED_BYTES) {
      const data = this.#outbox.next();
      if (data === undefined) return;
      this.#connection.send(data);
    }
  }

  /** @returns {Query} */
  #query() {
    const { character, thoughts, visemes } = this.#options;
    const wanted = { character, thoughts, visemes, opus: this.#opus !== undefined };
    const left =
      this.#token === undefined
        ? undefined
        : { token: this.#token, received: this.#inbox.last, reply: this.#sounds.received };
    return queryOf(wanted, left);
  }

  /** Stops sending until the next connection is open. */
  #pause() {
    this.#isOpen = false;
    this.#heartbeat.stop();
  }

  /** @param {string | Uint8Array} data */
  #receive(data) {
    this.#heartbeat.heard();
    if (typeof data === 'string') {
      const event = parseEvent(data);
      if (event !== undefined) this.#handle(event);
      return;
    }
    const frame = decodeFrame(data);
    if (frame?.kind === 'reply' && this.#isNext(frame.sequence)) this.#deliver(this.#sounds.fromFrame(frame));
  }

  /** @param {WireEvent} event */
  #handle(event) {
    switch (event.type) {
      case 'session.created':
        this.#begin(event.session ?? {});
        break;
      case 'x_dramatis.resumed':
        this.#resume(event);
        return;
      case 'x_dramatis.ack':
        this.#heartbeat.answered();
        if (typeof event.x_ack === 'number') this.#outbox.acknowledge(event.x_ack, event.x_kept);
        this.#pump();
        return;
      case 'error':
        if (OWN_ERRORS.has(event.error?.code ?? '')) {
          this.#token = undefined;
          this.#connection.redial();
          return;
        }
        this.#connection.noteError(event.error ?? {});
        break;
      default:
    }
    if (this.#isNext(event.x_seq)) this.#deliver(this.#sounds.named(/** @type {ServerEvent} */ (event)));
  }

  /** @param {Session} session */
  #begin(session) {
    this.#session = session;
    this.#token = session.x_dramatis?.resume?.token;
    this.#isAdopting = false;
    this.#inbox.reset();
    this.#agree();
    this.#had = { here: 0, there: 0 };
    const lostMs = this.#outbox.reset();
    this.#opened({ isNew: true, isRestarted: false, lostMs });
  }

  /** Uses the extensions that the session has. */
  #agree() {
    const { extensions = [] } = this.#session.x_dramatis ?? {};
    this.#isOurs = extensions.length > 0;
    this.#sounds.close();
    this.#sounds = new AudioEvents(this.#opus?.codec);
    const hasOpus = this.#token !== undefined && extensions.includes('opus');
    this.#outgoing.use(extensions.includes('binary'), hasOpus ? this.#opus?.encoder : undefined);
  }

  /** @param {WireEvent} event */
  #resume({ received, restarted }) {
    const isRestarted = restarted === true;
    if (this.#isAdopting) {
      this.#isAdopting = false;
      this.#outbox.adopt(received ?? 0);
      this.#agree();
    }
    if (isRestarted) this.#inbox.restart();
    const isUnknown = isRestarted && typeof received !== 'number';
    const lostMs = isUnknown ? this.#outbox.restart() : this.#outbox.resume(received ?? 0);
    this.#opened({ isNew: false, isRestarted, lostMs });
    const has = { here: this.#inbox.last, there: received ?? 0 };
    if (has.here > this.#had.here || has.there > this.#had.there) this.#connection.noteTraffic();
    this.#had = has;
  }

  /** @param {{ isNew: boolean, isRestarted: boolean, lostMs: number }} facts */
  #opened(facts) {
    this.#connection.establish();
    this.#isOpen = true;
    this.#tellStatus({ type: 'connection.open', session: this.#session, ...facts });
    this.#heartbeat.start();
    this.#pump();
  }

  /**
   * Returns true if a frame is the next one. Reconnects if frames are missing; the server sends
   * them again on the next connection.
   *
   * @param {number | undefined} sequence
   */
  #isNext(sequence) {
    const verdict = this.#inbox.take(sequence);
    if (verdict === 'gap') this.#connection.redial();
    return verdict === 'new';
  }

  /** @param {ServerEvent | Promise<AudioEvent> | undefined} event */
  #deliver(event) {
    if (event instanceof Promise) this.#telling.after(event, this.#options.onEvent);
    else if (event !== undefined) this.#telling.do(() => this.#options.onEvent(event));
  }

  /** @param {ConnectionEvent} status */
  #tellStatus(status) {
    this.#telling.do(() => this.#options.onStatus(status));
  }
}
