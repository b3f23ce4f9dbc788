import { make } from '../browser/dom.js';

/**
 * Status messages of the page, one at a time, in a polite live region. A message stays until its cause is gone
 * (`clear`) or the user dismisses it; then the previous one is shown again.
 */
export class Messages {
  #area;
  /**
   * @type {Map<string, { text: string, action?: { label: string, run: () => void } | undefined }>}
   */
  #shown = new Map();

  /** @param {HTMLElement} area a live region */
  constructor(area) {
    this.#area = area;
  }

  /**
   * @param {string} cause messages with the same cause replace each other
   * @param {string} text
   * @param {{ label: string, run: () => void }} [action]
   */
  show(cause, text, action) {
    const isSame = this.#shown.get(cause)?.text === text && [...this.#shown.keys()].at(-1) === cause;
    this.#shown.delete(cause);
    this.#shown.set(cause, { text, action });
    if (!isSame) this.#render();
  }

  /** @param {string} cause */
  clear(cause) {
    if (this.#shown.delete(cause)) this.#render();
  }

  clearAll() {
    this.#shown.clear();
    this.#render();
  }

  #render() {
    const top = [...this.#shown].at(-1);
    this.#area.replaceChildren();
    if (top === undefined) return;
    const [cause, { text, action }] = top;
    this.#area.append(make('p', '', text));
    if (action !== undefined) {
      const button = make('button', 'plain', action.label);
      button.addEventListener('click', action.run);
      this.#area.append(button);
    }
    const dismiss = make('button', 'plain dismiss', '×');
    dismiss.setAttribute('aria-label', 'Dismiss this message');
    dismiss.addEventListener('click', () => this.clear(cause));
    this.#area.append(dismiss);
  }
}
