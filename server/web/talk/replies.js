import { WIRE_RATE } from '../../client/audio/pcm.js';
import { Reply } from './reply.js';
import { Turn } from './turn.js';

/** @import { Speaker } from '../../client/types/events.d.ts' */
/** @import { PlaybackEvent, Response, ResponseEvent, ServerError, AudioEvent } from '../../client/types/api.d.ts' */
/** @import { SceneEvent } from '../parts/scene-view.js' */
/** @import { Entry } from './transcript.js' */
/** @import { TurnStart, VoiceEvent } from './turn.js' */

/**
 * The character's side of the conversation: shows the text of replies in step with playback, and truncates it with the
 * audio.
 */
export class Replies {
  #options;
  /** @type {Map<string, Turn>} by response */
  #turns = new Map();

  /**
   * @param {object} options
   * @param {(speaker: Speaker | undefined) => Entry} options.addEntry
   * @param {() => boolean} options.isAudible false if replies are only read
   * @param {(error: ServerError | undefined) => void} options.onFailed
   * @param {(news: SceneEvent) => void} options.onScene
   */
  constructor(options) {
    this.#options = options;
  }

  /** True if a response is in progress that was not cut off. */
  get isUnderWay() {
    return this.#all().some((turn) => !turn.isDone && !turn.isCut);
  }

  /**
   * @param {Response} response from `response.created`
   * @param {TurnStart | undefined} start the turn that it answers
   */
  begin(response, start) {
    this.#turns.set(response.id, new Turn(start));
  }

  /** @param {ResponseEvent | AudioEvent} event about a response; ignored if that was cut off */
  handle(event) {
    const turn = this.#turns.get('response' in event ? event.response.id : event.response_id);
    if (turn === undefined) return;
    if (event.type === 'response.done') this.#done(turn, event.response);
    else if (!turn.isCut) this.#extend(turn, event);
  }

  /** @param {VoiceEvent} event voice consistency of a reply */
  hearVoice(event) {
    const turn = this.#turns.get(event.response_id);
    turn?.hearVoice(event);
    turn?.draw(this.#all());
  }

  /** @param {PlaybackEvent} event */
  play(event) {
    switch (event.type) {
      case 'playback.progress':
        this.#find(event.itemId)?.reply.reveal(event.playedMs);
        break;
      case 'playback.onset': {
        const found = this.#find(event.itemId);
        found?.turn.heardAt(event.atMs);
        found?.turn.draw(this.#all());
        this.#options.onScene({ type: 'speaks', id: found?.reply.entry.element.dataset.speaker });
        break;
      }
      case 'playback.ended':
        this.#find(event.itemId)?.reply.finish();
        this.#options.onScene({ type: 'speaks', id: undefined });
        break;
      case 'playback.stopped':
        for (const turn of event.responseIds.map((id) => this.#turns.get(id)))
          if (turn?.isDone === false) turn.isCut = true;
        break;
      case 'playback.cut':
        this.#find(event.itemId)?.reply.cut(event.heardMs);
        this.#options.onScene({ type: 'speaks', id: undefined });
        break;
      default:
    }
  }

  /** Marks all responses as done because the session is gone. */
  abandon() {
    for (const turn of this.#all()) turn.isDone = true;
  }

  /**
   * @param {Turn} turn
   * @param {ResponseEvent | AudioEvent} event
   */
  #extend(turn, event) {
    switch (event.type) {
      case 'response.output_item.added':
        if (event.item.type === 'message') this.#replyOf(turn, event.item.id, event.item.x_dramatis?.speaker);
        break;
      case 'response.output_audio.delta':
        this.#replyOf(turn, event.item_id).receivedMs += ((event.pcm16.length >> 1) * 1000) / WIRE_RATE;
        break;
      case 'response.output_audio_transcript.delta':
      case 'response.output_text.delta':
        this.#write(this.#replyOf(turn, event.item_id), event);
        break;
      case 'x_dramatis.cue':
        turn.replies.at(-1)?.cue(event);
        break;
      case 'x_dramatis.resume':
        for (const reply of turn.replies) reply.delay(event.later_ms ?? 0);
        break;
      case 'response.output_audio_transcript.done':
        this.#replyOf(turn, event.item_id).settle(event.transcript);
        break;
      default:
    }
  }

  /**
   * @param {Turn} turn
   * @param {Response} response
   */
  #done(turn, { status, status_details: details, x_dramatis: about }) {
    turn.isDone = true;
    turn.learn(about);
    if (about?.cast_feelings !== undefined) this.#options.onScene({ type: 'feelings', of: about.cast_feelings });
    if (about?.users_turn === true) this.#options.onScene({ type: 'yours' });
    if (about?.scene_ended === true) this.#options.onScene({ type: 'over' });
    if (status === 'failed') this.#options.onFailed(details?.error);
    turn.draw(this.#all());
  }

  /**
   * @param {Reply} reply
   * @param {Extract<ResponseEvent, { type: 'response.output_text.delta' |
   *   'response.output_audio_transcript.delta' }>} event
   */
  #write(reply, { delta, x_dramatis: about }) {
    const spoken = about !== undefined && 'words' in about ? about : undefined;
    const words = spoken?.words ?? [];
    for (const word of words) reply.hold(word.text, word.start_ms);
    if (words.length === 0) reply.hold(delta, spoken?.start_ms ?? undefined);
    if (!this.#options.isAudible()) reply.reveal(Infinity);
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
   * @param {Speaker} [speaker] the speaker, in a scene
   */
  #replyOf(turn, itemId, speaker) {
    const known = turn.replies.find((reply) => reply.itemId === itemId);
    if (known !== undefined) return known;
    const entry = this.#options.addEntry(speaker);
    entry.itemId = itemId;
    const reply = new Reply(itemId, entry);
    turn.replies.push(reply);
    return reply;
  }
}
