import { make } from '../parts/dom.js';
import { hue, portrait } from '../parts/portrait.js';

/** Distance from the end, in pixels, within which the transcript scrolls along with new entries. */
const FOLLOW_WITHIN = 80;

/** One utterance in the transcript. Its text is `partial` until it is `done`, or `interrupted` before its end. */
export class Entry {
  #owner;
  #words = make('p', 'words');
  /** @type {Map<string, HTMLElement>} */
  #notes = new Map();

  /**
   * @param {Transcript} owner
   * @param {'user' | 'character'} role
   * @param {string} who
   */
  constructor(owner, role, who) {
    this.#owner = owner;
    this.role = role;
    this.who = who;
    this.element = make('li', '', make('span', 'who', who), this.#words);
    this.element.dataset.role = role;
    this.element.dataset.status = 'partial';
  }

  get isOfScene() {
    return this.element.dataset.speaker !== undefined;
  }

  get text() {
    return this.#words.textContent;
  }

  set text(text) {
    this.#owner.keepPlace(() => {
      this.#words.textContent = text;
    });
  }

  /** @param {'done' | 'interrupted'} status */
  close(status) {
    this.element.dataset.status = status;
    if (this.text.trim() !== '') this.#owner.announce(this, status);
  }

  /**
   * Shows a small line under the text; notes of the same kind replace each other.
   *
   * @param {string} kind
   * @param {...(Node | string)} content
   */
  note(kind, ...content) {
    const note = this.#notes.get(kind) ?? make('p', `note ${kind}`);
    this.#notes.set(kind, note);
    this.#owner.keepPlace(() => {
      note.replaceChildren(...content);
      this.#words.after(note);
    });
  }

  /**
   * Appends an element, replacing an earlier one.
   *
   * @param {Element} element
   * @param {Element} [earlier]
   */
  attach(element, earlier) {
    this.#owner.keepPlace(() => {
      earlier?.remove();
      this.element.append(element);
    });
  }

  remove() {
    this.#owner.forget(this);
    this.element.remove();
  }
}

/**
 * Transcript as a list that scrolls to its end. Finished utterances are also announced, as a whole, in a live region.
 */
export class Transcript {
  #list;
  #announcer;
  /** @type {Set<Entry>} */
  #entries = new Set();
  /** True while the reader is at the end and wants to stay there. */
  #isFollowing = true;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} announcer a live region, visible to screen readers only
   */
  constructor(list, announcer) {
    this.#list = list;
    this.#announcer = announcer;
    list.addEventListener('scroll', () => {
      this.#isFollowing = list.scrollHeight - list.scrollTop - list.clientHeight < FOLLOW_WITHIN;
    });
    new ResizeObserver(() => this.keepPlace(() => {})).observe(list);
  }

  /**
   * @param {'user' | 'character'} role
   * @param {string} who
   * @param {string} [lang] language tag of the text
   * @param {string} [speaker] id of the speaker, in a scene
   * @returns {Entry}
   */
  add(role, who, lang, speaker) {
    const entry = new Entry(this, role, who);
    if (lang !== undefined) entry.element.lang = lang;
    if (speaker !== undefined) {
      entry.element.dataset.speaker = speaker;
      entry.element.style.setProperty('--hue', String(hue(speaker)));
      entry.element.prepend(portrait({ id: speaker, name: who }));
    }
    this.#entries.add(entry);
    this.keepPlace(() => this.#list.append(entry.element));
    return entry;
  }

  /** Marks the end of a scene. */
  dropCurtain() {
    if (this.#list.lastElementChild?.className === 'scene-end') return;
    this.keepPlace(() => this.#list.append(make('li', 'scene-end', 'End of the scene')));
  }

  clear() {
    this.#entries.clear();
    this.#list.replaceChildren();
    this.#announcer.replaceChildren();
  }

  /**
   * Returns the history, for a server that has lost the session.
   *
   * @returns {{ role: 'user' | 'character', text: string }[]}
   */
  history() {
    return Array.from(this.#entries, ({ role, text }) => ({ role, text: text.trim() })).filter(
      ({ text }) => text !== '',
    );
  }

  /**
   * Runs `change` and keeps the list at its end if the reader was there.
   *
   * @param {() => void} change
   */
  keepPlace(change) {
    const isFollowing = this.#isFollowing;
    change();
    if (isFollowing) this.#list.scrollTop = this.#list.scrollHeight;
  }

  /**
   * @param {Entry} entry
   * @param {'done' | 'interrupted'} status
   */
  announce(entry, status) {
    this.#announcer.append(
      make('p', '', `${entry.who}: ${entry.text}${status === 'interrupted' ? ' (interrupted)' : ''}`),
    );
    while (this.#announcer.childElementCount > 4) this.#announcer.firstElementChild?.remove();
  }

  /** @param {Entry} entry */
  forget(entry) {
    this.#entries.delete(entry);
  }
}
