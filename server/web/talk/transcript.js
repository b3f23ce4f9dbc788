import { make } from '../browser/dom.js';
import { hue, portrait } from '../face/portrait.js';

/** Distance from the end, in pixels, within which the transcript scrolls along with new entries. */
const FOLLOW_WITHIN = 80;

/**
 * One finished utterance, as it is copied, saved and restored.
 *
 * @typedef {object} Utterance
 * @property {'user' | 'character'} role
 * @property {string} who
 * @property {string} text
 * @property {'done' | 'interrupted'} status
 * @property {string} [lang]
 * @property {string} [speaker] id of the speaker, in a scene
 * @property {string} [itemId] conversation item that holds it on the server
 */

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
    /** Conversation item that holds it on the server, as far as is known. @type {string | undefined} */
    this.itemId = undefined;
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

  get isEmpty() {
    return this.#entries.size === 0;
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

  /**
   * Returns the user's last utterance and what followed it; empty if the user has said nothing.
   *
   * @returns {Entry[]}
   */
  lastExchange() {
    const all = [...this.#entries];
    const from = all.findLastIndex(({ role }) => role === 'user');
    return from === -1 ? [] : all.slice(from);
  }

  /** @param {string} itemId */
  find(itemId) {
    return [...this.#entries].find((entry) => entry.itemId === itemId);
  }

  /** Entries whose item on the server is not known yet, the first first. @param {'user' | 'character'} role */
  unnamed(role) {
    return [...this.#entries].filter((entry) => entry.role === role && entry.itemId === undefined);
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
   * Returns the utterances so far. One that is not finished counts as interrupted.
   *
   * @returns {Utterance[]}
   */
  utterances() {
    return Array.from(this.#entries, ({ role, who, text, element, itemId }) => {
      const { status, speaker } = element.dataset;
      const { lang } = element;
      return {
        role,
        who,
        text: text.trim(),
        status: status === 'done' ? /** @type {const} */ ('done') : /** @type {const} */ ('interrupted'),
        ...(lang === '' ? {} : { lang }),
        ...(speaker === undefined ? {} : { speaker }),
        ...(itemId === undefined ? {} : { itemId }),
      };
    }).filter(({ text }) => text !== '');
  }

  /**
   * Shows utterances of a conversation before the page was loaded.
   *
   * @param {readonly Utterance[]} utterances
   */
  restore(utterances) {
    for (const { role, who, text, status, lang, speaker, itemId } of utterances) {
      const entry = this.add(role, who, lang, speaker);
      entry.itemId = itemId;
      entry.text = text;
      entry.element.dataset.status = status;
    }
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
