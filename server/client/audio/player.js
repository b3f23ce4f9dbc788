import { PlaybackReporter } from './playback-reporter.js';
import { heardOf, holdItem, isSilenced } from './open-item.js';
import { fromPcm16, WIRE_RATE } from './pcm.js';

/** @import { OpenItem } from './open-item.js' */
/** @import { ClientEvent, PlaybackEvent, ServerEvent, Session, AudioEvent, TalkSpeaker } from '../types/api.d.ts' */

/** `event_id` of events that the client sends on its own; errors in response to them are ignored. */
export const UNSOLICITED = 'unasked';

/**
 * Plays incoming replies, reports to the server how much of them was heard, and cuts them off when the user interrupts.
 * Without a loudspeaker, a reply is over once it has been received.
 */
export class Player {
  #options;
  #heard;
  /** @type {Map<string, OpenItem>} */
  #items = new Map();
  /** Responses that were cut off here while still active on the server. @type {Set<string>} */
  #cut = new Set();
  /** Responses in progress that have received audio. @type {Set<string>} */
  #begun = new Set();
  #interrupts = true;
  /** Resolves when the pause for a hold has taken effect. @type {Promise<void> | undefined} */
  #holding;
  /** True if the server accepts playback positions (`x_dramatis.heard`). */
  #tellsHeard = false;
  /** @type {TalkSpeaker | undefined} */
  speaker;

  /**
   * @param {object} options
   * @param {(event: ClientEvent) => void} options.send
   * @param {(event: ClientEvent) => void} options.mention sends an event now or never
   * @param {(responseId: string) => boolean} options.isActive true while a response is active on
   *   the server
   * @param {(event: PlaybackEvent) => void} options.onEvent
   */
  constructor(options) {
    this.#options = options;
    this.#heard = new PlaybackReporter((responseId, samples, isFinal, isHeld) => {
      if (!this.#tellsHeard) return;
      const mark = isHeld === true ? { held: true } : {};
      const event = { type: 'x_dramatis.heard', event_id: UNSOLICITED, response_id: responseId, samples, ...mark };
      if (isFinal) options.send(event);
      else options.mention(event);
    });
  }

  /** True while a reply is being played; a reply on hold counts, too. */
  get isPlaying() {
    return this.speaker?.isPlaying === true || [...this.#items.values()].some(({ heldMs }) => heldMs !== undefined);
  }

  /** True if playback can be heard. */
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
   * @param {number} samples played, as reported by an external player
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
        // If nothing of a reply has been played yet, the server cancels it: there is nothing to truncate.
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
   * Stops playback at once, then reports how much of each item was heard.
   *
   * @param {string} [underWayId] id of the active response, of which nothing may have arrived yet
   * @param {boolean} [tells] whether to report to the server as well
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
      // Without audio output the user has read the reply as far as it was received.
      const heardMs = isAudible ? heardOf(item, played?.get(itemId)) : Math.floor(receivedMs);
      this.#options.onEvent({ type: 'playback.cut', responseId, itemId, heardMs });
      // A finished item without audio needs no truncation.
      if (!tells || this.speaker === undefined || (receivedMs === 0 && responseId !== underWayId)) continue;
      if (receivedMs > 0) this.#heard.stopped(responseId, samplesOf(heardMs));
      // Necessary for replies that the server has finished: no cancel will truncate those.
      this.#truncate(itemId, heardMs);
    }
    // Audio still in transit will not be played either.
    if (tells && this.speaker !== undefined && isUnheard) this.#heard.stopped(underWayId, 0);
  }

  /**
   * Truncates to nothing an item that arrives after its response was cut off. The server may have
   * finished it before it learned of the cut.
   *
   * @param {string} itemId
   * @param {string} responseId
   */
  #refuse(itemId, responseId) {
    if (this.speaker === undefined || this.#begun.has(responseId)) return;
    this.#truncate(itemId, 0);
  }

  /** Pauses playback: the user makes a sound. Audio received so far is discarded; the server sends it again. */
  async #hold() {
    const { isAudible } = this;
    const held = [...this.#items.values()].flatMap((item) => holdItem(item) ?? []);
    const played = await this.speaker?.flush();
    for (const { item, settle } of held) {
      const heardMs = settle(isAudible ? (played?.get(item.itemId) ?? 0) : Infinity);
      this.#heard.stopped(item.responseId, samplesOf(heardMs), true);
      // The server does not resend a response that it has finished.
      if (!this.#options.isActive(item.responseId)) void this.#endHeld(item);
    }
  }

  /**
   * Ends an item on hold that will receive no more audio.
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
    this.#options.send({ type: 'conversation.item.truncate', event_id: UNSOLICITED, ...truncation });
  }

  /** Stops playback because the session is gone. */
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

  /** @param {AudioEvent} event */
  #play({ item_id: itemId, response_id: responseId, pcm16, x_ms: sentMs }) {
    const item = this.#open(itemId, responseId);
    this.#noteDelay(itemId, sentMs);
    const samples = fromPcm16(pcm16);
    this.#begun.add(responseId);
    item.receivedMs += (samples.length * 1000) / WIRE_RATE;
    this.speaker?.play(itemId, samples, item.sentLateMs);
  }

  /**
   * Tracks how far the server is behind real time with an item, by its own clock.
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
