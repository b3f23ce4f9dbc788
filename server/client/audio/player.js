import { HeardCursor } from './heard-cursor.js';
import { heardOf, holdItem, isSilenced } from './open-item.js';
import { fromPcm16, WIRE_RATE } from './pcm.js';

/** @import { OpenItem } from './open-item.js' */
/** @import { ClientEvent, PlaybackEvent, ServerEvent, Session, SoundEvent, TalkSpeaker } from '../types/api.d.ts' */

/** `event_id` of what is sent without being asked for: errors that answer it are nobody's concern. */
export const UNASKED = 'unasked';

/**
 * Plays the replies that come, tells the server how much of them was heard, and cuts them off when the person
 * interrupts. Without a loudspeaker, a reply is over when it has been received.
 */
export class Player {
  #options;
  #heard;
  /** @type {Map<string, OpenItem>} */
  #items = new Map();
  /** Responses cut off here while the server was still at work on them. @type {Set<string>} */
  #cut = new Set();
  /** Responses under way of which sound has come. @type {Set<string>} */
  #begun = new Set();
  #interrupts = true;
  /** A reply is being silenced for a moment. @type {Promise<void> | undefined} */
  #holding;
  /** The server wants to know what was heard. */
  #tellsHeard = false;
  /** @type {TalkSpeaker | undefined} */
  speaker;

  /**
   * @param {object} options
   * @param {(event: ClientEvent) => void} options.send
   * @param {(event: ClientEvent) => void} options.mention sends what is worth nothing later
   * @param {(responseId: string) => boolean} options.isActive whether the server is still at work on a response
   * @param {(event: PlaybackEvent) => void} options.onEvent
   */
  constructor(options) {
    this.#options = options;
    this.#heard = new HeardCursor((responseId, samples, isFinal, isHeld) => {
      if (!this.#tellsHeard) return;
      const mark = isHeld === true ? { held: true } : {};
      const event = { type: 'x_dramatis.heard', event_id: UNASKED, response_id: responseId, samples, ...mark };
      if (isFinal) options.send(event);
      else options.mention(event);
    });
  }

  /** A reply that is held is being played, though silent. */
  get isPlaying() {
    return this.speaker?.isPlaying === true || [...this.#items.values()].some(({ heldMs }) => heldMs !== undefined);
  }

  /** What is played can be heard. */
  get isAudible() {
    return this.speaker?.isRunning ?? false;
  }

  /** @returns {import('../types/api.d.ts').SpeakerListener} */
  get listener() {
    return {
      onProgress: (itemId, playedMs, level) => {
        const responseId = this.#items.get(itemId)?.responseId ?? '';
        const heardMs = playedMs + (this.#items.get(itemId)?.baseMs ?? 0);
        this.#heard.played(responseId, samplesOf(heardMs));
        this.#options.onEvent({ type: 'playback.progress', responseId, itemId, playedMs: heardMs, level });
      },
      onOnset: (itemId, atMs) => {
        const responseId = this.#items.get(itemId)?.responseId ?? '';
        this.#options.onEvent({ type: 'playback.onset', responseId, itemId, atMs });
      },
      onEnded: (itemId) => this.#ended(itemId),
    };
  }

  /** @param {string} responseId */
  isCut(responseId) {
    return this.#cut.has(responseId);
  }

  /**
   * @param {string} responseId
   * @param {number} samples played, by somebody else's account
   */
  heard(responseId, samples) {
    this.#heard.played(responseId, samples);
  }

  /** @param {ServerEvent} event */
  take(event) {
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
        this.#obey(event.session);
        break;
      case 'input_audio_buffer.speech_started':
        // A reply of which nothing has sounded yet is the server's to cancel: there is nothing to take back.
        if (this.isPlaying && this.#interrupts) void this.cut();
        break;
      case 'x_dramatis.hold':
        this.#holding = this.#hold();
        break;
      case 'response.output_item.added':
        if (event.item.type !== 'message') break;
        if (this.isCut(event.response_id)) this.#refuse(event.item.id, event.response_id);
        else this.#open(event.item.id, event.response_id);
        break;
      case 'response.output_audio.delta':
        if (!this.isCut(event.response_id)) this.#play(event);
        break;
      case 'response.output_audio_transcript.delta':
        this.#noteDelay(event.item_id, event.x_ms);
        break;
      case 'response.output_audio.done':
        this.speaker?.complete(event.item_id);
        break;
      case 'response.done':
        this.#done(event.response);
        break;
      default:
    }
  }

  /**
   * Silence at once. Then tells how much of each item was heard.
   *
   * @param {string} [underWayId] a response on which the server is at work, though nothing of it may have come
   * @param {boolean} [tells] whether the server is told too
   */
  async cut(underWayId, tells = true) {
    const items = [...this.#items.values()];
    this.#items.clear();
    const responseIds = [...new Set(items.map(({ responseId }) => responseId).concat(underWayId ?? []))];
    if (responseIds.length === 0) return;
    for (const responseId of responseIds) if (this.#options.isActive(responseId)) this.#cut.add(responseId);
    this.#options.onEvent({ type: 'playback.stopped', responseIds });
    const { isAudible } = this;
    const isUnheard = underWayId !== undefined && !this.#begun.has(underWayId);
    const flushing = this.speaker?.isPlaying ? this.speaker.flush() : undefined;
    await this.#holding;
    const played = await flushing;
    for (const item of items) {
      const { itemId, responseId, receivedMs } = item;
      // Where nothing can sound the reply was read, as far as it had come.
      const heardMs = isAudible ? heardOf(item, played?.get(itemId)) : Math.floor(receivedMs);
      this.#options.onEvent({ type: 'playback.cut', responseId, itemId, heardMs });
      // Of what is finished and had no sound, nothing is left to be cut.
      if (!tells || this.speaker === undefined || (receivedMs === 0 && responseId !== underWayId)) continue;
      if (receivedMs > 0) this.#heard.stopped(responseId, samplesOf(heardMs));
      // A reply that the server has finished is cut only by this.
      this.#truncate(itemId, heardMs);
    }
    // What is on its way will not be played either.
    if (tells && this.speaker !== undefined && isUnheard) this.#heard.stopped(underWayId, 0);
  }

  /**
   * An item of a response that was cut off before it came: nothing of it is heard. The server may have been done with it
   * when it learned of the cut.
   *
   * @param {string} itemId
   * @param {string} responseId
   */
  #refuse(itemId, responseId) {
    if (this.speaker === undefined || this.#begun.has(responseId)) return;
    this.#truncate(itemId, 0);
  }

  /** Silence for a moment: the user makes a sound, perhaps only a cough. What was received is thrown away; it comes again. */
  async #hold() {
    const { isAudible } = this;
    const held = [...this.#items.values()].flatMap((item) => holdItem(item) ?? []);
    const played = await this.speaker?.flush();
    for (const { item, settle } of held) {
      const heardMs = settle(isAudible ? (played?.get(item.itemId) ?? 0) : Infinity);
      this.#heard.stopped(item.responseId, samplesOf(heardMs), true);
      // What the server is done with is not said again.
      if (!this.#options.isActive(item.responseId)) void this.#endHeld(item);
    }
  }

  /**
   * Nothing more comes of an item that is held: it ends there.
   *
   * @param {OpenItem} item
   */
  async #endHeld(item) {
    const { itemId, responseId } = item;
    this.#items.delete(itemId);
    await this.#holding;
    const heardMs = heardOf(item);
    this.#options.onEvent({ type: 'playback.cut', responseId, itemId, heardMs });
    this.#truncate(itemId, heardMs);
  }

  /**
   * @param {string} itemId
   * @param {number} heardMs
   */
  #truncate(itemId, heardMs) {
    const truncation = { item_id: itemId, content_index: 0, audio_end_ms: heardMs };
    this.#options.send({ type: 'conversation.item.truncate', event_id: UNASKED, ...truncation });
  }

  /** The session is gone: nothing more comes of what was under way. */
  async abandon() {
    await this.cut(undefined, false);
    this.#cut.clear();
    this.#begun.clear();
  }

  /** @param {Session} session */
  #obey({ audio, x_dramatis: about }) {
    this.#interrupts = audio?.input?.turn_detection?.interrupt_response !== false;
    this.#tellsHeard = about?.extensions?.includes('heard') ?? false;
  }

  /**
   * @param {string} itemId
   * @param {string} responseId
   */
  #open(itemId, responseId) {
    const known = this.#items.get(itemId);
    if (known !== undefined) return known;
    /** @type {OpenItem} */
    const item = {
      itemId,
      responseId,
      receivedMs: 0,
      baseMs: 0,
      heldMs: undefined,
      sentLateMs: 0,
      firstSentMs: undefined,
    };
    this.#items.set(itemId, item);
    return item;
  }

  /** @param {SoundEvent} event */
  #play({ item_id: itemId, response_id: responseId, pcm16, x_ms: sentMs }) {
    const item = this.#open(itemId, responseId);
    this.#noteDelay(itemId, sentMs);
    const samples = fromPcm16(pcm16);
    this.#begun.add(responseId);
    item.receivedMs += (samples.length * 1000) / WIRE_RATE;
    this.speaker?.play(itemId, samples, item.sentLateMs);
  }

  /**
   * How far behind real time the server is with an item, by its own clock.
   *
   * @param {string} itemId
   * @param {number | undefined} sentMs
   */
  #noteDelay(itemId, sentMs) {
    const item = this.#items.get(itemId);
    if (item === undefined || sentMs === undefined) return;
    item.firstSentMs ??= sentMs;
    item.sentLateMs = Math.max(item.sentLateMs, sentMs - item.firstSentMs - item.receivedMs);
  }

  /** @param {import('../types/api.d.ts').Response} response */
  #done({ id, status }) {
    const isCut = this.#cut.delete(id);
    if (status === 'cancelled' && !isCut) {
      void this.cut(id).then(() => {
        this.#cut.delete(id);
        this.#begun.delete(id);
      });
      return;
    }
    this.#begun.delete(id);
    const { isAudible } = this;
    for (const item of this.#items.values()) {
      const { itemId, responseId, receivedMs } = item;
      if (responseId !== id) continue;
      this.speaker?.complete(itemId);
      if (receivedMs === 0 || !isAudible) this.#ended(itemId);
      else if (isSilenced(item)) void this.#endHeld(item);
    }
  }

  /** @param {string} itemId */
  #ended(itemId) {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    this.#items.delete(itemId);
    const { responseId, receivedMs } = item;
    if (this.isAudible) this.#heard.played(responseId, samplesOf(receivedMs), true);
    this.#options.onEvent({ type: 'playback.ended', responseId, itemId });
  }
}

/** @param {number} ms */
function samplesOf(ms) {
  return Math.round((ms * WIRE_RATE) / 1000);
}
