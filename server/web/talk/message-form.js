import { element } from '../browser/dom.js';

/** Text box for messages: new ones, and the last one again when it is edited. */
export class MessageForm {
  #form = element('say', HTMLFormElement);
  #input = element('text', HTMLInputElement);
  #send = element('send', HTMLButtonElement);
  #isEditing = false;

  /** @param {() => void} onSend */
  constructor(onSend) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      onSend();
    });
    this.#input.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.#isEditing) this.clear();
    });
    this.#input.addEventListener('input', () => {
      if (this.#input.value === '') this.#edits(false);
    });
  }

  /** True if the text replaces the user's last message. */
  get isEditing() {
    return this.#isEditing;
  }

  get text() {
    return this.#input.value.trim();
  }

  set text(text) {
    this.#input.value = text;
  }

  /** @param {string} text the user's last message */
  edit(text) {
    this.#input.value = text;
    this.#edits(true);
    this.#input.select();
    this.#input.focus();
  }

  clear() {
    this.#input.value = '';
    this.#edits(false);
  }

  /** @param {boolean} isEditing */
  #edits(isEditing) {
    this.#isEditing = isEditing;
    this.#send.textContent = isEditing ? 'Resend' : 'Send';
  }
}
