import { median, withHeard } from './latency.js';
import { make } from '../parts/dom.js';
import { moodChips } from '../parts/mood.js';
import { waterfall } from './waterfall.js';

/** @import { Latency, Response, WordsEvent } from '../../client/types/api.d.ts' */
/** @import { Reply } from './reply.js' */

/**
 * What a response answers, and when that was over, on the clock of `performance.now()`. For speech, `atMs` is when the page
 * was told that it had stopped.
 *
 * @typedef {{ kind: 'speech' | 'text' | 'greeting', atMs: number }} TurnStart
 */

/** @typedef {Extract<WordsEvent, { type: 'x_dramatis.voice' }>} VoiceEvent */

/** One response: its items, and where its time went. */
export class Turn {
  /** @type {Reply[]} */
  replies = [];
  isDone = false;
  /** Cut off by the person; what still comes of it is ignored. */
  isCut = false;
  /** First audible sample of the response. @type {number | undefined} */
  #heardAtMs;
  /** @type {Response['x_dramatis']} */
  #about;
  /** @type {HTMLDetailsElement | undefined} */
  #drawing;
  /** How like itself the character sounded, where the server tells. @type {VoiceEvent | undefined} */
  #voice;

  /** @param {TurnStart | undefined} start undefined where the server speaks unasked */
  constructor(start) {
    this.start = start;
  }

  /** @param {number} atMs */
  heardAt(atMs) {
    this.#heardAtMs ??= atMs;
  }

  /** @param {Response['x_dramatis']} about what the server tells at its end */
  learn(about) {
    this.#about = about ?? this.#about;
  }

  /** @param {VoiceEvent} voice */
  hearVoice(voice) {
    this.#voice = voice;
  }

  /** @returns {Latency | undefined} undefined until the server has told its part */
  get latency() {
    const latency = this.#about?.latency;
    if (latency === undefined) return undefined;
    if (this.#heardAtMs === undefined || this.start === undefined) return withHeard(latency, null);
    const endedAtMs = this.start.atMs - (this.start.kind === 'speech' ? (latency.endpoint_ms ?? 0) : 0);
    return withHeard(latency, Math.round(this.#heardAtMs - endedAtMs));
  }

  /**
   * Shows the timings, and whose answer it was, under the first item.
   *
   * @param {readonly Turn[]} session all turns so far
   */
  draw(session) {
    const { latency, replies } = this;
    const entry = replies[0]?.entry;
    if (entry === undefined) return;
    const mind = this.#about?.mind;
    if (mind?.because) entry.note('because', `Answered by ${mind.name}: ${mind.because}`);
    const mood = moodChips(this.#about?.feelings);
    if (mood.length > 0) entry.note('feelings', make('span', 'unseen', 'Feels '), ...mood);
    // Who asked for nothing waits for nothing: in a scene one turn follows the other.
    const isAnswer = this.start?.kind === 'speech' || this.start?.kind === 'text';
    if (latency === undefined || (entry.isOfScene && !isAnswer)) return;
    const alike = session.flatMap((turn) =>
      turn.start?.kind === this.start?.kind ? (turn.latency?.heard_ms ?? []) : [],
    );
    const medianMs = this.start?.kind === 'greeting' ? null : median(alike);
    const isOpen = this.#drawing?.open ?? false;
    const drawing = waterfall(latency, { medianMs, mind: mind?.name, voice: this.#voice, isOpen });
    entry.attach(drawing, this.#drawing);
    this.#drawing = drawing;
  }
}
