import { element, make } from '../browser/dom.js';
import { showPortrait } from '../face/portrait.js';
import { readStored } from '../browser/browser-storage.js';
import { ask, placeOf, Refusal, sendJson } from './api.js';
import { cardForm } from './card-form.js';

/** @typedef {import('./api.js').Issue} Issue */
/** @typedef {import('./field.js').Rule} Rule */
/** @typedef {import('./field.js').Values} Values */
/** @typedef {import('./voice-fields.js').LibraryVoice} LibraryVoice */

const page = {
  bill: element('bill', HTMLElement),
  welcome: element('welcome', HTMLElement),
  portrait: element('portrait', HTMLElement),
  picture: element('picture-label', HTMLElement),
  name: element('name', HTMLElement),
  standing: element('card-status', HTMLElement),
  form: element('card', HTMLFormElement),
  problems: element('problems', HTMLElement),
  save: element('save', HTMLButtonElement),
  remove: element('delete', HTMLButtonElement),
};

/** The open character: its form, its unsaved changes, and the saved state. */
export class Sheet {
  /** @type {{ card: Values, lines: Values[] } | undefined} */
  #pack;
  /** @type {ReturnType<typeof cardForm> | undefined} */
  #form;
  #saved = '';
  #revision = '';
  #hasPicture = false;
  isEditable = false;

  /** @param {() => void} onChange called on each change */
  constructor(onChange) {
    page.form.addEventListener('input', () => {
      this.#showStanding(true);
      onChange();
    });
  }

  /** Id of the open character; the empty string if none is open. */
  get id() {
    return /** @type {string} */ (this.#pack?.card['id'] ?? '');
  }

  get name() {
    return /** @type {string} */ (this.pack.card['name']);
  }

  /** The pack with all changes of the form. Throws if no character is open. */
  get pack() {
    if (this.#pack === undefined) throw new Error('no character is open');
    return this.#pack;
  }

  get isChanged() {
    return this.#pack !== undefined && JSON.stringify(this.#pack) !== this.#saved;
  }

  /** @param {string} id */
  async open(id) {
    const [schema, reply, { voices }] = await Promise.all([
      ask('/characters/schema').then((answer) => answer.json()),
      ask(placeOf(id)),
      ask('/voices').then((answer) => answer.json()),
    ]);
    const { card, lines, editable, picture } = await reply.json();
    const tab = this.#form?.tab() ?? '';
    this.#pack = { card, lines };
    this.isEditable = editable;
    this.#revision = reply.headers.get('etag') ?? '';
    this.#form = cardForm({ pack: this.#pack, schema, isReadOnly: !editable, tab, library: libraryOf(voices) });
    this.#saved = JSON.stringify(this.#pack);
    page.form.replaceChildren(this.#form.node);
    page.problems.replaceChildren();
    page.welcome.hidden = true;
    page.bill.hidden = false;
    page.save.hidden = !editable;
    page.remove.hidden = !editable;
    this.#showPortrait(picture);
    page.picture.hidden = !editable;
    this.#showStanding(false);
    page.form.scrollTop = 0;
  }

  close() {
    this.#pack = undefined;
    this.#form = undefined;
    page.form.replaceChildren();
    page.problems.replaceChildren();
    page.bill.hidden = true;
    page.welcome.hidden = false;
  }

  /** Saves the pack. Throws a Refusal; issues are also shown at their fields. */
  async save() {
    const reply = await this.#checked(() =>
      sendJson('PUT', placeOf(this.id), this.pack, { 'if-match': this.#revision }),
    );
    this.#revision = reply.headers.get('etag') ?? '';
    this.#saved = JSON.stringify(this.#pack);
    this.#showStanding(false);
    // The initials may have changed.
    if (!this.#hasPicture) this.#showPortrait(false);
  }

  /**
   * @param {string} name of the copy
   * @returns {Promise<string>} id of the copy
   */
  async copy(name) {
    const { card, lines } = this.pack;
    const send = (/** @type {string} */ query) =>
      this.#checked(() => sendJson('POST', `/characters${query}`, { card: { ...card, name }, lines }));
    const reply = await send(`?from=${encodeURIComponent(this.id)}`).catch((fault) => {
      // The original was deleted in the meantime: create one from the form.
      if (fault instanceof Refusal && fault.code === 'unknown_character') return send('');
      throw fault;
    });
    return (await reply.json()).id;
  }

  /** @param {Blob} png */
  async setPicture(png) {
    const headers = { 'content-type': 'application/octet-stream' };
    await ask(`${placeOf(this.id)}/picture`, { method: 'PUT', headers, body: png });
    this.#showPortrait(true);
  }

  async remove() {
    await ask(placeOf(this.id), { method: 'DELETE', headers: { 'if-match': this.#revision } });
  }

  /** @returns {Promise<string>} a client secret for conversations with the unsaved card */
  async draft() {
    const reply = await this.#checked(() => sendJson('POST', '/characters/draft', this.pack));
    return (await reply.json()).value;
  }

  /**
   * @param {() => Promise<Response>} request sends the card
   */
  async #checked(request) {
    try {
      const reply = await request();
      this.#showIssues([]);
      return reply;
    } catch (fault) {
      if (fault instanceof Refusal) this.#showIssues(fault.issues);
      throw fault;
    }
  }

  /** @param {readonly Issue[]} issues */
  #showIssues(issues) {
    const form = this.#form;
    page.problems.replaceChildren();
    form?.mark(issues.map(({ param }) => param.split('.')));
    if (form === undefined || issues.length === 0) return;
    // In reverse order, so that the tab of the first issue is the one that stays open.
    const links = issues.toReversed().map(({ param, message }) => {
      const path = param.split('.');
      const found = form.at(path);
      found.showError(message);
      const link = make('button', 'link', `${found.label}: ${message}`);
      link.type = 'button';
      link.addEventListener('click', () => {
        const again = form.at(path);
        again.showError(message);
        again.focus();
        again.node.scrollIntoView({ block: 'center' });
      });
      return make('li', '', link);
    });
    const title = issues.length === 1 ? '1 error:' : `${issues.length} errors:`;
    page.problems.append(make('p', '', title), make('ul', '', ...links.toReversed()));
    const first = form.at(issues[0]?.param.split('.') ?? []);
    first.focus();
    first.node.scrollIntoView({ block: 'center' });
  }

  /** @param {boolean} isChanged */
  #showStanding(isChanged) {
    const { card } = this.pack;
    page.name.textContent = card['name'] || 'Unnamed';
    page.name.lang = card['languages']?.[0] ?? 'en';
    page.save.disabled = !isChanged;
    page.standing.textContent = this.isEditable
      ? isChanged
        ? 'Not saved yet'
        : 'Saved'
      : 'Read-only. Copy it to edit it.';
    page.standing.classList.toggle('changed', isChanged);
  }

  /** @param {boolean} picture whether the character has a picture */
  #showPortrait(picture) {
    this.#hasPicture = picture;
    const { id, name } = this.pack.card;
    showPortrait(page.portrait, { id, name, picture }, readStored('tab', 'key'));
  }
}

/** @param {readonly LibraryVoice[]} voices */
function libraryOf(voices) {
  return {
    voices,
    clipOf: async (/** @type {string} */ id) => (await ask(`/voices/${encodeURIComponent(id)}/clip`)).blob(),
  };
}
