import { readStored, writeStored } from '../browser/browser-storage.js';
import { element } from '../browser/dom.js';

/** Dialog with the settings of this browser, which remembers them. The models below them belong to the server. */
export class Settings {
  #dialog = element('settings', HTMLDialogElement);
  #volume = element('volume', HTMLInputElement);
  #pushToTalk = element('push-to-talk', HTMLInputElement);
  #theme = element('theme', HTMLFieldSetElement);

  /**
   * @param {object} on
   * @param {() => void} on.open the dialog was opened
   * @param {() => void} on.change volume or push-to-talk was changed
   */
  constructor(on) {
    element('settings-open', HTMLButtonElement).addEventListener('click', () => {
      this.#dialog.showModal();
      on.open();
    });
    element('settings-close', HTMLButtonElement).addEventListener('click', () => this.close());
    element('settings-form', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault());
    this.#volume.value = readStored('visits', 'volume') || '100';
    this.#volume.addEventListener('input', () => {
      writeStored('visits', 'volume', this.#volume.value);
      on.change();
    });
    this.#pushToTalk.checked = readStored('visits', 'push-to-talk') === 'yes';
    this.#pushToTalk.addEventListener('change', () => {
      writeStored('visits', 'push-to-talk', this.#pushToTalk.checked ? 'yes' : '');
      on.change();
    });
    this.#showTheme();
  }

  /** Volume of the characters, as a factor of the amplitude. */
  get volume() {
    // Loudness is felt as a power of the amplitude.
    return (Number(this.#volume.value) / 100) ** 2;
  }

  /** True if the user speaks while holding a key or the button, and not otherwise. */
  get isPushToTalk() {
    return this.#pushToTalk.checked;
  }

  close() {
    this.#dialog.close();
  }

  #showTheme() {
    const { dataset } = document.documentElement;
    for (const choice of this.#theme.querySelectorAll('input')) {
      choice.checked = choice.value === (dataset.theme ?? '');
      choice.addEventListener('change', () => {
        dataset.theme = choice.value;
        writeStored('visits', 'theme', choice.value);
      });
    }
  }
}
