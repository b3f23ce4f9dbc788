import { diagnose, dial } from './connection/dial.js';
import { openDevices } from './audio/devices.js';
import { EventQueue } from './event-queue.js';
import { ResumableConnection } from './connection/resumable-connection.js';
import { openOpus } from './audio/opus.js';
import { Player, UNSOLICITED } from './audio/player.js';
import { HeardLips } from './mouth/mouth.js';
import { ReplyRequest } from './reply-request.js';
import { whenOnline } from './connection/when-online.js';

/** @import { ConnectionEvent, ServerEvent, Session, Talk, TalkEvent, TalkOptions } from './types/api.d.ts' */

const KEPT_AUDIO_MS = 30_000;

/** The first session could not be opened; `code` is the server's, or `connection_refused`, `replaced` or `closed`. */
export class TalkError extends Error {
  /** @override */
  name = 'TalkError';

  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Opens a conversation with a character. Reconnects automatically when the connection is lost: events
 * of both sides from the meantime are then delivered exactly once and in order.
 *
 * @param {TalkOptions} options
 * @returns {Talk}
 */
export function openTalk(options) {
  return new OpenTalk(options);
}

/** @implements {Talk} */
class OpenTalk {
  #options;
  /** @type {EventQueue<TalkEvent>} */
  #events = new EventQueue();
  #link;
  #player;
  mouth = new HeardLips();
  #request;
  #devices;
  // A socket that looks open is dead after a network change.
  #stopWatching = whenOnline(() => this.reconnect());
  /** @type {Promise<Session>} */
  #opened;
  /** @type {(session: Session) => void} */
  #open = () => {};
  /** @type {(error: TalkError) => void} */
  #fail = () => {};
  #hasSession = false;
  /** Responses that began here. @type {Set<string>} */
  #begun = new Set();
  #isOver = false;

  /** @param {TalkOptions} options */
  constructor(options) {
    this.#options = options;
    this.#link = new ResumableConnection({
      dial: (query) => dial(options, query),
      diagnose: () => diagnose(options),
      character: options.character,
      thoughts: options.thoughts,
      visemes: options.visemes,
      keptAudioMs: options.keptAudioMs ?? KEPT_AUDIO_MS,
      resumption: options.resumption,
      clock: options.clock,
      onEvent: (event) => this.#take(event),
      onStatus: (event) => this.#changed(event),
    });
    const send = this.send.bind(this);
    this.#player = new Player({
      send,
      mention: (event) => this.#link.sendTransient(event),
      isActive: (responseId) => this.#request.isActive(responseId),
      onEvent: (event) => this.#tell(event),
    });
    this.#request = new ReplyRequest(send);
    /** @type {Promise<Session>} */
    const session = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#fail = reject;
    });
    // Deferred, so that no event is emitted before the caller has the returned object.
    this.#devices = Promise.resolve().then(() => this.#start());
    this.#opened = Promise.all([session, this.#devices]).then(([opened]) => opened);
    // Callers that do not await `opened` learn of a failure from the events.
    this.#opened.catch(() => {});
  }

  get events() {
    return this.#events;
  }

  get opened() {
    return this.#opened;
  }

  get resumption() {
    return this.#link.resumption;
  }

  get isPlaying() {
    return this.#player.isPlaying;
  }

  get isAudible() {
    return this.#player.isAudible;
  }

  get isAnswering() {
    return this.#request.activeId !== undefined;
  }

  /** @type {Talk['send']} */
  send(event) {
    return this.#link.send(event);
  }

  /** @type {Talk['say']} */
  say(text, { player } = {}) {
    if (this.isPlaying || this.isAnswering) void this.interrupt();
    const from = player === undefined ? {} : { x_dramatis: { player } };
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }], ...from };
    if (!this.send({ type: 'conversation.item.create', item })) return false;
    this.#request.ask();
    return true;
  }

  /** @type {Talk['sendAudio']} */
  sendAudio(pcm16, { player = 0 } = {}) {
    const bytes = ArrayBuffer.isView(pcm16)
      ? new Uint8Array(pcm16.buffer, pcm16.byteOffset, pcm16.byteLength)
      : new Uint8Array(pcm16);
    return this.#link.sendAudio(bytes, player);
  }

  /** @type {Talk['interrupt']} */
  async interrupt() {
    const { activeId } = this.#request;
    const isToCancel = activeId !== undefined && !this.#player.isCut(activeId);
    await this.#player.cut(activeId);
    // `cut` has reported how much was heard, so the server truncates the reply exactly there.
    if (isToCancel) this.send({ type: 'response.cancel', event_id: UNSOLICITED, response_id: activeId });
  }

  /** @type {Talk['heard']} */
  heard(responseId, samples) {
    this.#player.heard(responseId, samples);
  }

  reconnect() {
    this.#link.redial();
  }

  close() {
    this.#link.close();
  }

  async #start() {
    const codec = this.#options.opus === true ? await openOpus() : undefined;
    if (codec === undefined) this.#link.open();
    else this.#link.open({ codec, encoder: await codec.openEncoder() });
    const devices = await openDevices(this.#options, {
      listener: this.#player.listener,
      onChunk: ({ pcm }) => void this.sendAudio(pcm),
      onEvent: (event) => {
        // A device closed at the end of the conversation has not failed.
        if (!this.#isOver) this.#tell(event);
      },
    });
    this.#player.speaker = devices.speaker;
    return devices;
  }

  /** @param {ServerEvent} event */
  #take(event) {
    if (this.#isOfEarlierPage(event)) return;
    this.#player.take(event);
    if (!this.#request.take(event)) this.#tell(event);
  }

  /**
   * Returns true for events of a response that began on the page before this one.
   *
   * @param {ServerEvent} event
   */
  #isOfEarlierPage(event) {
    if (this.#options.resumption === undefined) return false;
    if (event.type === 'response.created') this.#begun.add(event.response.id);
    const id = 'response' in event ? event.response.id : 'response_id' in event ? event.response_id : undefined;
    return id !== undefined && !this.#begun.has(id);
  }

  /** @param {ConnectionEvent} event */
  #changed(event) {
    if (event.type === 'connection.open') {
      if (event.isNew && this.#hasSession) this.#abandon();
      this.#hasSession = true;
      this.#open(event.session);
    }
    this.#tell(event);
    if (event.type === 'connection.refused') {
      const { code, message } = event.error ?? {};
      this.#end(code ?? 'connection_refused', message ?? 'The server rejected the session.');
    } else if (event.type === 'connection.replaced') this.#end('replaced', 'Another client resumed the session.');
    else if (event.type === 'connection.closed') this.#end('closed', 'The session was closed.');
  }

  #abandon() {
    this.#request.reset();
    void this.#player.abandon();
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  #end(code, message) {
    this.#isOver = true;
    this.#fail(new TalkError(code, message));
    this.#abandon();
    this.#stopWatching();
    this.#events.end();
    void this.#devices.then((devices) => devices.close());
  }

  /** @param {TalkEvent} event */
  #tell(event) {
    this.mouth.take(event);
    if (this.#options.onEvent === undefined) this.#events.push(event);
    else this.#options.onEvent(event);
  }
}
