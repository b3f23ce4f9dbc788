/** @import { Entry } from './transcript.js' */

/** One item of a response: words that wait for their sound. */
export class Reply {
  /** @type {{ text: string, startMs: number }[]} */
  #held = [];
  #transcript = '';
  /** What is beside the words, to be shown when it takes place. @type {{ kind: string, text: string, startMs: number }[]} */
  #cues = [];
  /** What was shown of each kind. @type {Map<string, string>} */
  #done = new Map();
  /** Milliseconds of sound received. */
  receivedMs = 0;
  /** No more will come from the server. */
  isComplete = false;
  /** Its end is in the transcript: nothing changes it any more. */
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
   * Words for the transcript, to be shown when the sound has come that far.
   *
   * @param {string} text
   * @param {number} [startMs] by default, after all the sound received so far
   */
  hold(text, startMs = this.receivedMs) {
    this.#held.push({ text, startMs });
  }

  /** @param {number} ms words that wait sound so much later: the clause is said again */
  delay(ms) {
    this.#held = this.#held.map(({ text, startMs }) => ({ text, startMs: startMs + ms }));
  }

  /** @param {{ kind: string, text: string, start_ms: number }} cue something beside the words */
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

  /** Heard to its end. */
  finish() {
    if (this.isClosed) return;
    this.reveal(Infinity);
    if (this.#transcript !== '') this.entry.text = this.#transcript;
    this.#close('done');
  }

  /** @param {number} playedMs how much was heard; the words after it were never said */
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
