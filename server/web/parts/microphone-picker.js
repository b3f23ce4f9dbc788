import { make } from '../browser/dom.js';
import { listMicrophones } from '../../client/audio/microphone.js';
import { readStored, writeStored } from '../browser/browser-storage.js';

const NAME = 'microphone';

/** Microphone picker that updates when devices change and remembers the choice. */
export class MicrophonePicker {
  #select;

  /**
   * @param {HTMLSelectElement} select
   * @param {() => void} onChoose
   */
  constructor(select, onChoose) {
    this.#select = select;
    select.addEventListener('change', () => {
      writeStored('visits', NAME, select.value);
      onChoose();
    });
    navigator.mediaDevices?.addEventListener('devicechange', () => void this.refresh());
  }

  /** @returns {string} the empty string is the system's default */
  get deviceId() {
    return readStored('visits', NAME);
  }

  async refresh() {
    const microphones = await listMicrophones();
    const options = microphones.map(({ deviceId, label }, index) =>
      option(deviceId, label || `Microphone ${index + 1}`),
    );
    this.#select.replaceChildren(option('', 'System default'), ...options);
    const isPresent = microphones.some(({ deviceId }) => deviceId === this.deviceId);
    this.#select.value = isPresent ? this.deviceId : '';
  }
}

/**
 * @param {string} value
 * @param {string} label
 */
function option(value, label) {
  const made = make('option', '', label);
  made.value = value;
  return made;
}
