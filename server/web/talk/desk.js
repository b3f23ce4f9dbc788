import { element } from '../browser/dom.js';
import { captions, loudness } from './talk-button.js';

/** @import { SceneFacts } from './talk-button.js' */
/** @import { TalkState } from './talk-state.js' */

/**
 * Facts that the controls below the transcript depend on.
 *
 * @typedef {object} DeskFacts
 * @property {string | undefined} name of the chosen character
 * @property {boolean} hasMicrophone
 * @property {boolean} isMuted
 * @property {boolean} isPushToTalk
 * @property {SceneFacts | undefined} scene
 */

/** Controls below the transcript: the conversation button with its captions, the level meter, Stop and End. */
export class Desk {
  talk = element('talk', HTMLButtonElement);
  #stop = element('stop', HTMLButtonElement);
  #end = element('end', HTMLButtonElement);
  #status = element('talk-status', HTMLElement);
  #hint = element('talk-hint', HTMLElement);
  #meter = element('meter', HTMLElement);

  /**
   * @param {object} on
   * @param {(event: MouseEvent) => void} on.tap
   * @param {() => void} on.end
   * @param {() => void} on.stop
   * @param {() => void} on.goOn
   */
  constructor(on) {
    this.talk.addEventListener('click', on.tap);
    this.#end.addEventListener('click', () => {
      on.end();
      this.talk.focus();
    });
    this.#stop.addEventListener('click', () => (this.#offersToContinue ? on.goOn() : on.stop()));
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && !this.#offersToContinue && !this.#stop.hidden) on.stop();
    });
  }

  /** True if the button that stops a reply now lets a scene go on. */
  get #offersToContinue() {
    return this.#stop.textContent === 'Continue';
  }

  /**
   * @param {TalkState} state
   * @param {DeskFacts} facts
   */
  show(state, { name, hasMicrophone, isMuted, isPushToTalk, scene }) {
    const about = { name: name ?? 'the character', hasMicrophone, isMuted, isPushToTalk };
    const { action, status, hint } = captions(state, { ...about, ...(scene === undefined ? {} : { scene }) });
    document.documentElement.dataset.state = state;
    this.talk.dataset.muted = String(hasMicrophone && isMuted && !isPushToTalk);
    this.talk.setAttribute('aria-label', action);
    this.#status.textContent = status;
    this.#hint.textContent = name === undefined ? 'choose a character first' : hint;
    this.talk.disabled = name === undefined;
    const isBusy = state === 'speaking' || state === 'thinking';
    const plays = scene !== undefined && !scene.listens && !scene.isOver;
    const canContinue = plays && (state === 'listening' || state === 'muted');
    const hidesFocus = !isBusy && !canContinue && document.activeElement === this.#stop;
    this.#stop.hidden = !isBusy && !canContinue;
    if (hidesFocus) this.talk.focus();
    this.#stop.textContent = canContinue ? 'Continue' : 'Stop';
    this.#end.hidden = state === 'idle';
  }

  /** @param {number} level of the microphone, as RMS */
  showLevel(level) {
    const share = loudness(level);
    this.talk.style.setProperty('--level', share.toFixed(2));
    this.#meter.style.setProperty('--level', share.toFixed(2));
    this.#meter.setAttribute('aria-valuenow', String(Math.round(share * 100)));
  }
}
