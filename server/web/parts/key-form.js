import { readStored, writeStored } from '../browser/browser-storage.js';
import { element } from '../browser/dom.js';

/** Form for the API key, shown when the server asks for one. The key is kept until the tab is closed. */
export class KeyForm {
  #form = element('key-form', HTMLFormElement);
  #input = element('key', HTMLInputElement);
  /** API key; the empty string if none was entered. */
  key = readStored('tab', 'key');

  /** @param {() => void} onKey a key was entered */
  constructor(onKey) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.key = this.#input.value.trim();
      writeStored('tab', 'key', this.key);
      this.#input.value = '';
      this.#form.hidden = true;
      onKey();
    });
  }

  show() {
    this.#form.hidden = false;
    this.#input.focus();
  }
}
