import { element } from '../browser/dom.js';
import { explainServer } from '../talk/explanations.js';
import { Messages } from '../talk/messages.js';
import { captions, loudness } from '../talk/talk-button.js';
import { TalkController } from '../talk/talk-controller.js';
import { Transcript } from '../talk/transcript.js';

/** @typedef {import('../parts/characters.js').Character} Character */
/** @typedef {import('../talk/talk-state.js').TalkState} TalkState */

const page = {
  section: element('test-talk', HTMLElement),
  status: element('test-talk-status', HTMLElement),
  hint: element('test-talk-hint', HTMLElement),
  again: element('again', HTMLButtonElement),
  sayForm: element('say', HTMLFormElement),
  text: element('text', HTMLInputElement),
  microphone: element('microphone', HTMLButtonElement),
};

/**
 * Test conversation with the character as it is in the form, saved or not. After a change of the card, the next message
 * starts a new conversation with the changed card.
 */
export class TestTalk {
  #messages = new Messages(element('message', HTMLElement));
  #transcript = new Transcript(element('transcript', HTMLOListElement), element('announcer', HTMLElement));
  /** @type {TalkController | undefined} */
  #talk;
  /** True if the card was changed since the conversation started. */
  #isStale = false;
  /** @type {Promise<boolean> | undefined} */
  #beginning;
  #draft;

  /**
   * @param {() => Promise<{ character: Character, secret: string } | undefined>} draft creates a
   *   draft of the card; undefined if the card is invalid
   */
  constructor(draft) {
    this.#draft = draft;
    page.sayForm.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#say();
    });
    page.microphone.addEventListener('click', () => void this.#tapMicrophone());
    page.again.addEventListener('click', () => this.reset());
  }

  /** Resets the conversation, for a different character or none. */
  reset() {
    this.#end();
    this.#isStale = false;
    this.#transcript.clear();
    this.#messages.clearAll();
    page.hint.hidden = false;
    page.again.hidden = true;
  }

  /** Notes that the card was changed. */
  changed() {
    // Also while a conversation opens: it plays the card as it was when it was sent.
    const wasStale = this.#isStale;
    this.#isStale = true;
    if (this.#talk === undefined || wasStale) return;
    this.#messages.show('changed', 'The card has changed. Your next message starts a new conversation with it.');
  }

  /** Stops the current reply. */
  stop() {
    this.#talk?.stop();
  }

  #end() {
    const ending = this.#talk;
    this.#talk = undefined;
    ending?.end();
    this.#show('idle');
  }

  /**
   * @param {'voice' | 'text'} by
   * @returns {Promise<boolean>} whether there is a conversation with the current card
   */
  async #begin(by) {
    if (this.#talk !== undefined && !this.#isStale) return true;
    this.#beginning ??= this.#open(by).finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** @param {'voice' | 'text'} by */
  async #open(by) {
    this.#show('connecting');
    this.#isStale = false;
    const draft = await this.#draft();
    this.#end();
    if (draft === undefined) {
      this.#messages.show('draft', 'The card has errors, so it cannot be tested. They are listed above the form.');
      return false;
    }
    this.#transcript.clear();
    this.#messages.clearAll();
    page.hint.hidden = true;
    page.again.hidden = false;
    const whileCurrent = (/** @type {(value: any) => void} */ run) => (/** @type {unknown} */ value) => {
      if (this.#talk === begun) run(value);
    };
    const begun = new TalkController({
      character: draft.character,
      key: draft.secret,
      user: '',
      transcript: this.#transcript,
      messages: this.#messages,
      microphoneId: () => '',
      onState: whileCurrent((state) => this.#show(state)),
      onLevel: whileCurrent((level) => page.microphone.style.setProperty('--level', loudness(level).toFixed(2))),
      onVoice: whileCurrent((level) =>
        document.documentElement.style.setProperty('--voice', loudness(level).toFixed(2)),
      ),
      onMicrophone: () => undefined,
      // Thoughts are only for scenes; a draft is a single character.
      thoughts: false,
      onScene: () => undefined,
      onRefused: whileCurrent((error) => {
        this.#messages.show('server', explainServer(error) ?? 'The server rejected the conversation.');
        this.#end();
      }),
    });
    this.#talk = begun;
    return begun.begin(by);
  }

  async #say() {
    const text = page.text.value.trim();
    if (text === '' || !(await this.#begin('text'))) return;
    if (this.#talk?.say(text) === true) page.text.value = '';
    else this.#messages.show('unsent', 'Not sent: there is no connection yet. Your text is still in the text box.');
  }

  async #tapMicrophone() {
    if (this.#talk === undefined || this.#isStale) {
      await this.#begin('voice');
      return;
    }
    if (this.#talk.hasMicrophone) this.#talk.mute(!this.#talk.isMuted);
    else await this.#talk.openMicrophone();
  }

  /** @param {TalkState} state */
  #show(state) {
    const hasMicrophone = this.#talk?.hasMicrophone ?? false;
    const isHeard = hasMicrophone && this.#talk?.isMuted === false;
    const { status } = captions(state, { name: '', hasMicrophone, isMuted: !isHeard, isPushToTalk: false });
    page.section.dataset.state = state;
    page.status.textContent = state === 'idle' || state === 'muted' ? '' : status;
    page.microphone.setAttribute('aria-pressed', String(isHeard));
    page.microphone.setAttribute('aria-label', isHeard ? 'Mute the microphone' : 'Talk by voice');
    page.microphone.title = isHeard ? 'Mute the microphone' : 'Talk by voice';
  }
}
