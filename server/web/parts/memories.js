import { element, make } from '../browser/dom.js';
import { readStored, writeStored } from '../browser/browser-storage.js';

/**
 * One memory as returned by the server.
 *
 * @typedef {object} Memory
 * @property {string} id
 * @property {'turn' | 'fact' | 'summary'} kind
 * @property {string} at ISO 8601
 * @property {string} [text] of a fact or a summary
 * @property {string} [asked] of a turn
 * @property {string} [answered] of a turn
 */

/**
 * @typedef {object} PanelOptions
 * @property {() => { readonly id: string, readonly name: string } | undefined} character the
 *   selected character
 * @property {() => string} key API key; the empty string if the server needs none
 */

const kinds = { summary: 'Summary', fact: 'Fact', turn: 'Conversation turn' };

/**
 * Panel to read, correct and delete what the selected character remembers of the user. Memory is off until the user
 * turns it on.
 */
export class MemoryPanel {
  #options;
  #dialog = element('memories', HTMLDialogElement);
  #open = element('memories-open', HTMLButtonElement);
  #wanted = element('memories-wanted', HTMLInputElement);
  #title = element('memories-title', HTMLElement);
  #list = element('memories-list', HTMLUListElement);
  #status = element('memories-status', HTMLElement);
  #older = element('memories-older', HTMLButtonElement);
  #copy = element('memories-copy', HTMLButtonElement);
  #erase = element('memories-erase', HTMLButtonElement);

  /** @param {PanelOptions} options */
  constructor(options) {
    this.#options = options;
    this.#open.addEventListener('click', () => void this.#show());
    element('memories-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    this.#wanted.addEventListener('change', () => this.#want(this.#wanted.checked));
    this.#older.addEventListener('click', () => void this.#loadOlder());
    this.#copy.addEventListener('click', () => void this.#saveCopy());
    this.#erase.addEventListener('click', () => void this.#eraseAll());
  }

  /** User id sent to the server; the empty string if memory is turned off. */
  get user() {
    return readStored('visits', 'remembered') === 'yes' ? readStored('visits', 'user') : '';
  }

  /** Shows the button of the panel if the server has memory on, which it may report only to clients with a key. */
  async offer() {
    const key = this.#options.key();
    /** @type {Record<string, string>} */
    const headers = key === '' ? {} : { authorization: `Bearer ${key}` };
    try {
      const { memory } = await (await fetch('/healthz', { headers })).json();
      this.#open.hidden = memory !== 'on';
    } catch {
      this.#open.hidden = true;
    }
  }

  async #show() {
    const character = this.#options.character();
    if (character === undefined) return;
    this.#title.textContent = `Memories of ${character.name}`;
    this.#wanted.checked = this.user !== '';
    this.#dialog.showModal();
    await this.#load();
  }

  /** @param {boolean} wanted */
  #want(wanted) {
    // A random, unguessable id. Not `crypto.randomUUID`, which pages without TLS do not have.
    const random = crypto.getRandomValues(new Uint8Array(16));
    if (readStored('visits', 'user') === '')
      writeStored('visits', 'user', Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join(''));
    writeStored('visits', 'remembered', wanted ? 'yes' : '');
    this.#status.textContent = wanted
      ? 'From your next conversation on, the server stores what is said.'
      : 'From your next conversation on, nothing more is stored. Existing memories stay until you delete them.';
  }

  async #load() {
    const answer = await this.#ask('GET', '');
    if (answer === undefined) return;
    /** @type {Memory[]} */
    const memories = answer.data ?? [];
    this.#list.replaceChildren(...memories.map((memory) => this.#row(memory)));
    this.#status.textContent = memories.length === 0 ? 'No memories yet.' : '';
    for (const button of [this.#copy, this.#erase]) button.hidden = memories.length === 0;
    this.#older.hidden = answer.has_more !== true;
  }

  /** Loads the turns before the last row. */
  async #loadOlder() {
    const last = this.#list.lastElementChild;
    const before = last instanceof HTMLElement ? last.dataset['id'] : undefined;
    if (before === undefined) return;
    const answer = await this.#ask('GET', '', undefined, { before });
    if (answer === undefined) return;
    /** @type {Memory[]} */
    const memories = answer.data;
    this.#list.append(...memories.map((memory) => this.#row(memory)));
    this.#older.hidden = answer.has_more !== true;
  }

  /** @param {Memory} memory */
  #row(memory) {
    const words = make('p', 'words', ...(memory.kind === 'turn' ? turnLines(memory) : [memory.text ?? '']));
    const when = new Date(memory.at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
    const correct = make('button', 'plain', 'Correct');
    const forget = make('button', 'plain', 'Delete');
    const row = make('li', memory.kind, make('p', 'kind', `${kinds[memory.kind]} · ${when}`), words, correct, forget);
    row.dataset['id'] = memory.id;
    for (const button of [correct, forget]) button.type = 'button';
    correct.addEventListener('click', () => row.replaceWith(this.#form(memory)));
    forget.addEventListener('click', () => void this.#delete(memory));
    return row;
  }

  /**
   * Creates the correction form that replaces a row.
   *
   * @param {Memory} memory
   */
  #form(memory) {
    const { asked = '', answered = '', text = '' } = memory;
    const areas = memory.kind === 'turn' ? [area('asked', asked), area('answered', answered)] : [area('text', text)];
    const form = make('form', 'correction', ...areas);
    const save = make('button', 'plain', 'Save');
    const cancel = make('button', 'plain', 'Cancel');
    cancel.type = 'button';
    form.append(save, cancel);
    const row = make('li', memory.kind, form);
    cancel.addEventListener('click', () => row.replaceWith(this.#row(memory)));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const fields = [...new FormData(form)].filter(([, given]) => typeof given === 'string' && given.trim() !== '');
      // Reload everything: a correction also changes the source turn.
      void this.#ask('PATCH', `/${memory.id}`, Object.fromEntries(fields)).then((corrected) => {
        if (corrected !== undefined) void this.#load();
      });
    });
    return row;
  }

  /** @param {Memory} memory */
  async #delete({ id }) {
    if ((await this.#ask('DELETE', `/${id}`)) === undefined) return;
    await this.#load();
    if (this.#list.childElementCount > 0) this.#status.textContent = 'Deleted, together with what was derived from it.';
  }

  async #eraseAll() {
    if (!confirm(`${this.#title.textContent}: delete all?`)) return;
    if ((await this.#ask('DELETE', '')) !== undefined) await this.#load();
  }

  async #saveCopy() {
    const copy = await this.#ask('GET', '/export');
    if (copy === undefined) return;
    const link = make('a', '');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(copy, undefined, 2)], { type: 'application/json' }));
    link.download = `memories-${this.#options.character()?.id ?? ''}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /**
   * Sends a request to the server. Shows errors and returns undefined then.
   *
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {Record<string, string>} [more] query parameters
   * @returns {Promise<any>}
   */
  async #ask(method, path, body, more = {}) {
    const user = readStored('visits', 'user');
    if (user === '') return { data: [] };
    const key = this.#options.key();
    const query = new URLSearchParams({ user, character: this.#options.character()?.id ?? '', ...more });
    /** @type {Record<string, string>} */
    const headers = {};
    if (key !== '') headers['authorization'] = `Bearer ${key}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    try {
      const reply = await fetch(`/v1/memories${path}?${query}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = await reply.json();
      if (reply.ok) return answer;
      this.#status.textContent = answer.error?.message ?? 'The server rejected the request.';
    } catch {
      this.#status.textContent = 'The server cannot be reached.';
    }
    return undefined;
  }
}

const labels = { asked: 'You said', answered: 'Reply', text: 'Corrected text' };

/**
 * @param {keyof typeof labels} name
 * @param {string} value
 */
function area(name, value) {
  const made = make('textarea', '');
  made.name = name;
  made.value = value;
  made.setAttribute('aria-label', labels[name]);
  return made;
}

/** @param {Memory} turn */
function turnLines({ asked = '', answered = '' }) {
  const lines = [make('span', 'asked', asked), make('span', 'answered', answered)];
  return lines.filter(({ textContent }) => textContent !== '');
}
