import { decodeFrame } from './binary-frame.js';
import { platformClock } from './clock.js';
import { Connection } from './connection.js';
import { Heartbeat } from './heartbeat.js';
import { Inbox } from './inbox.js';
import { InOrder } from './in-order.js';
import { Outbox } from './outbox.js';
import { Outgoing } from './outgoing.js';
import { SoundEvents } from './sound-events.js';
import { parseEvent } from './wire-event.js';

/** @import { ClientEvent, ConnectionEvent, OpusCodec, OpusEncoder, TalkClock, TalkSocket } from '../types/api.d.ts' */
/** @import { ServerEvent, Session, SoundEvent } from '../types/api.d.ts' */

/** @import { WireEvent } from './wire-event.js' */

/** @typedef {Readonly<Record<string, string | undefined>>} Query */

/** What is asked for in the address; a server that does not know some of it leaves it out. */
const EXTENSIONS = 'binary,resume,hold,nod,notice,voice,cues';

/** Beyond this, frames wait here rather than in the socket, from where they cannot be called back. */
const MOST_BUFFERED_BYTES = 128 * 1024;

/** Events that only this side of the wire knows: they are answered here, and nobody else is told. */
const OWN_ERRORS = new Set(['session_not_resumable']);

/**
 * What lies between a talk and its connection: numbers the frames of both directions, keeps those the server may not have,
 * and goes on over another socket where one broke, so that everything arrives once and in order. Where the session is
 * gone, it begins a new one.
 */
export class Link {
  #options;
  #connection;
  #inbox = new Inbox();
  #outbox;
  #outgoing = new Outgoing((audioMs, write) => this.#push(audioMs, write));
  /** Opus takes a moment to come out of its decoder; what came behind it is told behind it. */
  #telling = new InOrder();
  /** @type {{ codec: OpusCodec, encoder: OpusEncoder } | undefined} */
  #opus;
  #sounds = new SoundEvents(undefined);
  #heartbeat;
  /** Of the session that can be gone on with. @type {string | undefined} */
  #token;
  /** @type {Session} */
  #session = {};
  #isOpen = false;
  #isClosed = false;
  /** The server knows our events. */
  #isOurs = false;
  /** What both sides had when the connection was last made. */
  #had = { here: 0, there: 0 };

  /**
   * @param {object} options
   * @param {(query: Query) => TalkSocket} options.dial
   * @param {() => Promise<'away' | 'busy' | 'well'>} options.diagnose
   * @param {string | undefined} options.character
   * @param {boolean | undefined} options.thoughts
   * @param {number} options.keptAudioMs
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
        if (this.#token !== undefined) this.mention({ type: 'x_dramatis.ack' });
        this.#pump();
      },
      onSilence: () => this.#connection.redial(),
    };
    this.#heartbeat = new Heartbeat(beats, clock);
  }

  /** @param {{ codec: OpusCodec, encoder: OpusEncoder }} [opus] where sound is to travel as Opus */
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

  /** There will be no session to go on with. */
  #end() {
    this.#token = undefined;
    this.#sounds.close();
    this.#opus?.encoder.close();
  }

  get #hasSession() {
    return this.#token !== undefined || this.#isOpen;
  }

  /**
   * Sends an event: now, or when the connection is back.
   *
   * @param {ClientEvent} event
   * @returns {boolean} false where there is no session to send it to
   */
  send(event) {
    if (!this.#hasSession) return false;
    this.#outgoing.event(event);
    return true;
  }

  /**
   * Sends an event of ours that is worth nothing later: now or never. Servers that do not know our events are spared.
   *
   * @param {ClientEvent} event
   */
  mention(event) {
    if (!this.#isOpen || !this.#isOurs) return;
    this.#connection.send(
      JSON.stringify({ ...event, ...(this.#token === undefined ? {} : { x_ack: this.#inbox.last }) }),
    );
  }

  /**
   * Sends sound of the user, like `send`.
   *
   * @param {Uint8Array<ArrayBuffer>} pcm16
   * @returns {boolean}
   */
  sendAudio(pcm16) {
    if (!this.#hasSession) return false;
    this.#outgoing.sound(pcm16);
    return true;
  }

  /**
   * @param {number} audioMs
   * @param {import('./outgoing.js').Write} write
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
    const { character: model, thoughts } = this.#options;
    const x = [
      EXTENSIONS,
      ...(thoughts === true ? ['thoughts'] : []),
      ...(this.#opus === undefined ? [] : ['opus']),
    ].join();
    if (this.#token === undefined) return { model, x };
    return { x, resume: this.#token, after: String(this.#inbox.last) };
  }

  /** The connection is not to be sent over for now. */
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
        if (typeof event.x_ack === 'number') this.#outbox.acknowledge(event.x_ack);
        this.#pump();
        return;
      case 'error':
        if (OWN_ERRORS.has(event.error?.code ?? '')) {
          this.#token = undefined;
          this.#connection.redial();
          return;
        }
        this.#connection.blame(event.error ?? {});
        break;
      default:
    }
    if (this.#isNext(event.x_seq)) this.#deliver(this.#sounds.named(/** @type {ServerEvent} */ (event)));
  }

  /** @param {Session} session */
  #begin(session) {
    const { extensions = [], resume } = session.x_dramatis ?? {};
    this.#session = session;
    this.#token = resume?.token;
    this.#isOurs = extensions.length > 0;
    this.#inbox.reset();
    this.#sounds.close();
    this.#sounds = new SoundEvents(this.#opus?.codec);
    const hasOpus = this.#token !== undefined && extensions.includes('opus');
    this.#outgoing.use(extensions.includes('binary'), hasOpus ? this.#opus?.encoder : undefined);
    this.#had = { here: 0, there: 0 };
    const lostMs = this.#outbox.reset();
    this.#opened({ isNew: true, isRestarted: false, lostMs });
  }

  /** @param {WireEvent} event */
  #resume({ received, restarted }) {
    const isRestarted = restarted === true;
    if (isRestarted) this.#inbox.restart();
    const lostMs = isRestarted ? this.#outbox.restart() : this.#outbox.resume(received ?? 0);
    this.#opened({ isNew: false, isRestarted, lostMs });
    const has = { here: this.#inbox.last, there: received ?? 0 };
    if (has.here > this.#had.here || has.there > this.#had.there) this.#connection.prove();
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
   * Whether a frame is the next one. Where some are missing, the connection is given up: they come with the next one.
   *
   * @param {number | undefined} sequence
   */
  #isNext(sequence) {
    const verdict = this.#inbox.take(sequence);
    if (verdict === 'gap') this.#connection.redial();
    return verdict === 'new';
  }

  /** @param {ServerEvent | Promise<SoundEvent> | undefined} event */
  #deliver(event) {
    if (event instanceof Promise) this.#telling.after(event, this.#options.onEvent);
    else if (event !== undefined) this.#telling.do(() => this.#options.onEvent(event));
  }

  /** @param {ConnectionEvent} status */
  #tellStatus(status) {
    this.#telling.do(() => this.#options.onStatus(status));
  }
}
