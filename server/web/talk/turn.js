import { median, withHeard } from './latency.js';
import { make } from '../browser/dom.js';
import { moodChips } from '../face/mood.js';
import { waterfall } from './waterfall.js';

/** @import { Latency, Response, ConversationItemEvent } from '../../client/types/api.d.ts' */
/** @import { Reply } from './reply.js' */

/**
 * Trigger of a response and its end on the clock of `performance.now()`. For speech, `atMs` is the
 * arrival of `speech_stopped`.
 *
 * @typedef {{ kind: 'speech' | 'text' | 'greeting', atMs: number }} TurnStart
 */

/** @typedef {Extract<ConversationItemEvent, { type: 'x_dramatis.voice' }>} VoiceEvent */

/** One response: its items and its latency breakdown. */
export class Turn {
  /** @type {Reply[]} */
  replies = [];
  isDone = false;
  /** True if the user cut it off; later events of it are ignored. */
  isCut = false;
  /** Time of the first audible sample of the response. @type {number | undefined} */
  #heardAtMs;
  /** @type {Response['x_dramatis']} */
  #about;
  /** @type {HTMLDetailsElement | undefined} */
  #drawing;
  /** Voice consistency of the reply, if the server reports it. @type {VoiceEvent | undefined} */
  #voice;

  /** @param {TurnStart | undefined} start undefined if the server speaks on its own */
  constructor(start) {
    this.start = start;
  }

  /** @param {number} atMs */
  heardAt(atMs) {
    this.#heardAtMs ??= atMs;
  }

  /** @param {Response['x_dramatis']} about from `response.done` */
  learn(about) {
    this.#about = about ?? this.#about;
  }

  /** @param {VoiceEvent} voice */
  hearVoice(voice) {
    this.#voice = voice;
  }

  /** @returns {Latency | undefined} undefined until the server has reported its part */
  get latency() {
    const latency = this.#about?.latency;
    if (latency === undefined) return undefined;
    if (this.#heardAtMs === undefined || this.start === undefined) return withHeard(latency, null);
    const endedAtMs = this.start.atMs - (this.start.kind === 'speech' ? (latency.endpoint_ms ?? 0) : 0);
    return withHeard(latency, Math.round(this.#heardAtMs - endedAtMs));
  }

  /**
   * Shows the timings, and the reply source, under the first item.
   *
   * @param {readonly Turn[]} session all turns so far
   */
  draw(session) {
    const { latency, replies } = this;
    const entry = replies[0]?.entry;
    if (entry === undefined) return;
    const source = this.#about?.mind;
    if (source?.because) entry.note('because', `Replied by ${source.name}: ${source.because}`);
    const mood = moodChips(this.#about?.feelings);
    if (mood.length > 0) entry.note('feelings', make('span', 'unseen', 'Emotion: '), ...mood);
    // Within a scene, only answers to the user have a latency worth showing: its other turns just follow one another.
    const isAnswer = this.start?.kind === 'speech' || this.start?.kind === 'text';
    if (latency === undefined || (entry.isOfScene && !isAnswer)) return;
    const alike = session.flatMap((turn) =>
      turn.start?.kind === this.start?.kind ? (turn.latency?.heard_ms ?? []) : [],
    );
    const medianMs = this.start?.kind === 'greeting' || alike.length < 2 ? null : median(alike);
    const isOpen = this.#drawing?.open ?? false;
    const drawing = waterfall(latency, {
      since: this.#since(latency),
      medianMs,
      source: source?.name,
      voice: this.#voice,
      isOpen,
    });
    entry.attach(drawing, this.#drawing);
    this.#drawing = drawing;
  }

  /**
   * Returns the event that the latency is measured from. Nobody has asked for a greeting.
   *
   * @param {Latency} latency
   */
  #since({ basis }) {
    if (this.start?.kind === 'greeting') return 'the start';
    return basis === 'text' ? 'sending' : 'end of speech';
  }
}
