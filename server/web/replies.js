import { fromBase64Pcm16, WIRE_RATE } from './pcm.js';
import { Reply } from './reply.js';
import { Turn } from './turn.js';

/** @import { ServerEvent } from './realtime.js' */
/** @import { Speaker } from './speaker.js' */
/** @import { Entry } from './transcript.js' */
/** @import { TurnStart } from './turn.js' */

/**
 * The id of events that may come too late: of a cancelled reply, the server may have dropped the item already. Errors that
 * answer them are not shown.
 */
export const UNASKED = 'unasked';

/** The character's side: responses come in, sound and words go out together, and can be cut off. */
export class Replies {
  #options;
  /** @type {Map<string, Turn>} by response */
  #turns = new Map();
  /** Absent where the page cannot play sound; then replies are only read. @type {Speaker | undefined} */
  speaker;

  /**
   * @param {object} options
   * @param {() => Entry} options.addEntry
   * @param {(event: Readonly<Record<string, unknown>>) => boolean} options.send
   * @param {(error: ServerEvent['error']) => void} options.onFailed
   * @param {() => void} options.onChange
   */
  constructor(options) {
    this.#options = options;
  }

  get isPlaying() {
    return this.speaker?.isPlaying ?? false;
  }

  /** The server is at work on one that is still wanted. */
  get isUnderWay() {
    return this.#all().some((turn) => !turn.isDone && !turn.isCut);
  }

  /** The server is at work on one, wanted or not. */
  get isServerBusy() {
    return this.#all().some((turn) => !turn.isDone);
  }

  /**
   * @param {ServerEvent} event `response.created`
   * @param {TurnStart | undefined} start what it answers
   */
  begin({ response }, start) {
    this.#turns.set(response?.id ?? '', new Turn(start));
  }

  /** @param {ServerEvent} event any other about a response; what was cut off is ignored */
  handle(event) {
    const turn = this.#turns.get(event.response_id ?? event.response?.id ?? '');
    if (turn === undefined) return;
    if (event.type === 'response.done') this.#done(turn, event);
    else if (!turn.isCut) this.#extend(turn, event);
  }

  /**
   * Silence at once. Tells the server, and shows in the transcript, how much of each reply was heard.
   *
   * @returns {Promise<void>}
   */
  async cut() {
    const open = this.#all().flatMap(({ replies }) => replies.filter((reply) => !reply.isClosed));
    for (const turn of this.#all()) turn.isCut ||= !turn.isDone;
    const isAudible = this.#isAudible();
    const played = await this.speaker?.flush();
    for (const reply of open) {
      // Without a loudspeaker the reply was read, as far as it had come.
      const playedMs = isAudible ? (played?.get(reply.itemId) ?? 0) : Infinity;
      const heardMs = Math.floor(Math.min(playedMs, reply.receivedMs));
      reply.cut(heardMs);
      if (reply.receivedMs === 0) continue;
      const truncation = { item_id: reply.itemId, content_index: 0, audio_end_ms: heardMs };
      this.#options.send({ type: 'conversation.item.truncate', event_id: UNASKED, ...truncation });
    }
    this.#options.onChange();
  }

  /** The connection is gone: nothing more comes of what was under way. */
  async abandon() {
    const cutting = this.cut();
    for (const turn of this.#all()) turn.isDone = true;
    await cutting;
  }

  /**
   * The sound of an item has come this far.
   *
   * @param {string} itemId
   * @param {number} playedMs
   */
  played(itemId, playedMs) {
    this.#find(itemId)?.reply.reveal(playedMs);
  }

  /**
   * @param {string} itemId
   * @param {number} atMs when its first audible sample sounded
   */
  sounded(itemId, atMs) {
    const turn = this.#find(itemId)?.turn;
    turn?.heardAt(atMs);
    turn?.draw(this.#all());
  }

  /** @param {string} itemId of which the last sample was played */
  ended(itemId) {
    this.#find(itemId)?.reply.finish();
    this.#options.onChange();
  }

  /**
   * @param {Turn} turn
   * @param {ServerEvent} event
   */
  #extend(turn, event) {
    const itemId = event.item_id ?? event.item?.id ?? '';
    switch (event.type) {
      case 'response.output_item.added':
        if (event.item?.type === 'message') this.#replyOf(turn, itemId);
        break;
      case 'response.output_audio.delta':
        this.#play(this.#replyOf(turn, itemId), event.delta ?? '');
        break;
      case 'response.output_audio_transcript.delta':
      case 'response.output_text.delta':
        this.#write(this.#replyOf(turn, itemId), event);
        break;
      case 'response.output_audio_transcript.done':
        this.#replyOf(turn, itemId).settle(event.transcript ?? '');
        break;
      case 'response.output_audio.done':
        this.speaker?.complete(itemId);
        break;
      default:
    }
  }

  /**
   * @param {Turn} turn
   * @param {ServerEvent} event
   */
  #done(turn, { response }) {
    turn.isDone = true;
    turn.learn(response?.x_dramatis);
    const isWhole = response?.status === 'completed' || response?.status === 'incomplete';
    if (response?.status === 'failed') this.#options.onFailed(response.status_details?.error);
    for (const reply of turn.replies) {
      this.speaker?.complete(reply.itemId);
      if (isWhole && (reply.receivedMs === 0 || !this.#isAudible())) reply.finish();
    }
    if (response?.status === 'cancelled' && !turn.isCut) void this.cut();
    turn.draw(this.#all());
  }

  /**
   * @param {Reply} reply
   * @param {string} base64
   */
  #play(reply, base64) {
    const samples = fromBase64Pcm16(base64);
    reply.receivedMs += (samples.length * 1000) / WIRE_RATE;
    this.speaker?.play(reply.itemId, samples);
  }

  /**
   * @param {Reply} reply
   * @param {ServerEvent} event
   */
  #write(reply, event) {
    const words = event.x_dramatis?.words ?? [];
    for (const word of words) reply.hold(word.text, word.start_ms);
    if (words.length === 0) reply.hold(event.delta ?? '', event.x_dramatis?.start_ms ?? undefined);
    if (!this.#isAudible()) reply.reveal(Infinity);
  }

  #isAudible() {
    return this.speaker?.isRunning ?? false;
  }

  #all() {
    return [...this.#turns.values()];
  }

  /** @param {string} itemId */
  #find(itemId) {
    for (const turn of this.#turns.values()) {
      const reply = turn.replies.find((candidate) => candidate.itemId === itemId);
      if (reply !== undefined) return { turn, reply };
    }
    return undefined;
  }

  /**
   * @param {Turn} turn
   * @param {string} itemId
   */
  #replyOf(turn, itemId) {
    const known = turn.replies.find((reply) => reply.itemId === itemId);
    if (known !== undefined) return known;
    const reply = new Reply(itemId, this.#options.addEntry());
    turn.replies.push(reply);
    return reply;
  }
}
