import { askServer, complaint } from '../browser/ask-server.js';
import { element, make } from '../browser/dom.js';

/**
 * A model of the catalogue, as `GET /models` returns it.
 *
 * @typedef {object} Model
 * @property {string} id
 * @property {string} title
 * @property {string} use
 * @property {'asr' | 'tts' | 'turn-detector'} role
 * @property {string[]} languages
 * @property {string} licence
 * @property {number | null} bytes
 * @property {boolean} installed
 * @property {boolean} used
 * @property {{ done: number, of: number | null, error: string | null } | null} download
 */

/**
 * `turnDetector`: name of the one that decides.
 *
 * @typedef {{ changeable: boolean, auto: boolean, turnDetector: string | null, models: Model[] }} Models
 */

/** Stages whose engine can be replaced, and the engine that needs no model. */
const builtIn = {
  asr: ['The server’s own', 'Moonshine tiny unless configured otherwise · English'],
  tts: ['The server’s own', 'Flite and eSpeak NG unless configured otherwise · robotic'],
  'turn-detector': ['Words and prosody', 'built in · English and Chinese; other languages by sound only'],
};

/** Time between two looks at the progress of downloads. */
const REFRESH_MS = 500;

/** Models for recognition and voices, for administrators: downloads them and puts them to use. */
export class ModelPanel {
  #key;
  #section = element('models', HTMLElement);
  #status = element('models-status', HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReadonlySet<string>} ids of the models being downloaded */
  #loading = new Set();

  /** @param {() => string} key API key; the empty string if the server needs none */
  constructor(key) {
    this.#key = key;
  }

  /** Asks the server for its models, and continues while any is being downloaded. */
  async refresh() {
    clearTimeout(this.#timer);
    const { ok, body } = await askServer(this.#key(), 'GET', '/models');
    this.#section.hidden = !ok;
    if (ok) this.#show(body);
  }

  /** @param {Models} found */
  #show(found) {
    const { models } = found;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.action : undefined;
    for (const role of /** @type {const} */ (['asr', 'tts', 'turn-detector'])) {
      const rows = models.filter((model) => model.role === role).map((model) => this.#row(model, found));
      element(`models-${role}`, HTMLUListElement).replaceChildren(this.#ownRow(role, found), ...rows);
    }
    const again = focused === undefined ? null : this.#section.querySelector(`[data-action="${focused}"]`);
    if (again instanceof HTMLElement) again.focus();
    this.#follow(models);
  }

  /** @param {readonly Model[]} models */
  #follow(models) {
    const loading = models.filter(({ download }) => download !== null && download.error === null);
    const ended = models.filter(({ id, download }) => this.#loading.has(id) && (download === null || download.error));
    for (const { title, installed, download } of ended)
      if (installed) this.#tell(`${title} is downloaded.`);
      else if (download?.error) this.#tell(`${title} could not be downloaded.`);
    this.#loading = new Set(loading.map(({ id }) => id));
    if (loading.length > 0) this.#timer = setTimeout(() => void this.refresh(), REFRESH_MS);
  }

  /**
   * @param {Model['role']} role
   * @param {Models} found
   */
  #ownRow(role, { changeable, turnDetector, models }) {
    const isTurns = role === 'turn-detector';
    const isUsed = isTurns ? turnDetector !== 'smart-turn' : !models.some((model) => model.role === role && model.used);
    const [title = '', about = ''] = builtIn[role];
    const row = make('li', '', make('span', '', title, make('small', '', about)));
    row.dataset.used = String(isUsed);
    if (isUsed) row.append(make('span', 'hint', 'In use'));
    else if (changeable && !isTurns) row.append(this.#button('Use', `own-${role}`, () => this.#use(role, null, title)));
    return row;
  }

  /**
   * @param {Model} model
   * @param {Models} found
   */
  #row(model, { changeable, auto }) {
    const { id, title, role, download, installed, used } = model;
    const row = make('li', '', make('span', '', title, make('small', '', factsOf(model))));
    row.dataset.id = id;
    row.dataset.used = String(used);
    if (download !== null && download.error === null) row.append(...this.#progress(model, download));
    else if (!installed) row.append(this.#button('Download', `download-${id}`, () => this.#download(model)));
    else if (used) row.append(make('span', 'hint', 'In use'));
    else if (role !== 'turn-detector' && changeable)
      row.append(this.#button('Use', `use-${id}`, () => this.#use(role, id, title)));
    else row.append(make('span', 'hint', auto ? 'Restart to use' : 'Restart with --auto to use'));
    if (download?.error) row.append(make('p', 'error', download.error));
    return row;
  }

  /**
   * @param {Model} model
   * @param {{ done: number, of: number | null }} download
   */
  #progress({ id, title }, { done, of }) {
    const isWhole = of !== null && done >= of;
    const bar = make('progress', '');
    bar.setAttribute('aria-label', `Download of ${title}`);
    if (of !== null && !isWhole) {
      bar.max = of;
      bar.value = done;
    }
    const size = of === null ? '' : ` of ${megabytes(of)}`;
    const told = make('small', 'error', isWhole ? 'Checking and unpacking…' : `${megabytes(done)}${size}`);
    const cancel = this.#button('Cancel', `cancel-${id}`, () => this.#ask('DELETE', `/models/${id}/download`));
    return [cancel, bar, told];
  }

  /**
   * @param {string} label
   * @param {string} action name that stays the same while the rows are drawn again
   * @param {() => unknown} run
   */
  #button(label, action, run) {
    const button = make('button', 'plain', label);
    button.type = 'button';
    button.dataset.action = action;
    button.addEventListener('click', () => void run());
    return button;
  }

  /** @param {Model} model */
  async #download({ id, title }) {
    this.#tell(`Downloading ${title}…`);
    await this.#ask('POST', `/models/${id}/download`);
  }

  /**
   * @param {'asr' | 'tts'} stage
   * @param {string | null} model null: the engine of the settings
   * @param {string} title
   */
  async #use(stage, model, title) {
    this.#tell(`Loading ${title}…`);
    if (await this.#ask('PUT', '/models/use', { stage, model })) this.#tell(`${title}: the next conversation uses it.`);
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [content]
   */
  async #ask(method, path, content) {
    const { ok, body } = await askServer(this.#key(), method, path, content);
    if (ok) this.#show(body);
    else this.#tell(complaint(body));
    return ok;
  }

  /** @param {string} text */
  #tell(text) {
    this.#status.textContent = text;
  }
}

/** @param {Model} model */
function factsOf({ use, languages, licence, bytes }) {
  const many = languages.length > 5 ? `${languages.length} languages` : languages.map(nameOf).join(', ');
  return [use, many, bytes === null ? 'size not stated' : megabytes(bytes), licence].filter(Boolean).join(' · ');
}

/** @param {string} tag */
function nameOf(tag) {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(tag) ?? tag;
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
