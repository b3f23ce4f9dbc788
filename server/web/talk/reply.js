/** @import { Entry } from './transcript.js' */

/** One item of a response: text that is shown in step with playback. */
export class Reply {
  /** @type {{ text: string, startMs: number }[]} */
  #held = [];
  #transcript = '';
  /**
   * Pending stage directions and other cues, each shown at its time.
   *
   * @type {{ kind: string, text: string, startMs: number }[]}
   */
  #cues = [];
  /** Cues shown so far, by kind. @type {Map<string, string>} */
  #done = new Map();
  /** Milliseconds of audio received. */
  receivedMs = 0;
  /** True if the server will send nothing more. */
  isComplete = false;
  /** True if the entry is final. */
  isClosed = false;

  /**
   * @param {string} itemId
   * @param {Entry} entry
   */
  constructor(itemId, entry) {
    this.itemId = itemId;
    this.entry = entry;
  }

  /**
   * Adds text, to be shown when playback has reached it.
   *
   * @param {string} text
   * @param {number} [startMs] by default, after all audio received so far
   */
  hold(text, startMs = this.receivedMs) {
    this.#held.push({ text, startMs });
  }

  /** @param {number} ms delay of the text not shown yet: the clause is spoken again */
  delay(ms) {
    this.#held = this.#held.map(({ text, startMs }) => ({ text, startMs: startMs + ms }));
  }

  /**
   * @param {{ kind: string, text: string, start_ms: number }} cue a stage direction, thought or
   *   narration
   */
  cue({ kind, text, start_ms: startMs }) {
    this.#cues.push({ kind, text, startMs });
  }

  /** @param {string} transcript the whole text */
  settle(transcript) {
    this.#transcript = transcript;
    if (this.entry.text === '' && this.#held.length === 0) this.hold(transcript, 0);
  }

  /** @param {number} playedMs */
  reveal(playedMs) {
    this.#show(playedMs);
    const due = this.#held.filter(({ startMs }) => startMs <= playedMs);
    if (due.length === 0 || this.isClosed) return;
    this.#held = this.#held.filter(({ startMs }) => startMs > playedMs);
    this.entry.text += due.map(({ text }) => text).join('');
  }

  /** @param {number} playedMs */
  #show(playedMs) {
    const due = this.#cues.filter(({ startMs }) => startMs <= playedMs);
    if (due.length === 0 || this.isClosed) return;
    this.#cues = this.#cues.filter(({ startMs }) => startMs > playedMs);
    for (const { kind, text } of due) {
      const done = [this.#done.get(kind) ?? '', text].filter(Boolean).join(' · ');
      this.#done.set(kind, done);
      this.entry.note(kind, done);
    }
  }

  /** Completes the text: the item was heard to its end. */
  finish() {
    if (this.isClosed) return;
    this.reveal(Infinity);
    if (this.#transcript !== '') this.entry.text = this.#transcript;
    this.#close('done');
  }

  /** @param {number} playedMs how much was heard; later text is dropped */
  cut(playedMs) {
    if (this.isClosed) return;
    if (playedMs > 0) this.reveal(playedMs);
    this.#close('interrupted');
  }

  /** @param {'done' | 'interrupted'} status */
  #close(status) {
    this.isClosed = true;
    if (this.entry.text.trim() === '') this.entry.remove();
    else this.entry.close(status);
  }
}
