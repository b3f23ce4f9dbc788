import { askServer, complaint } from '../browser/ask-server.js';
import { element, make } from '../browser/dom.js';

/** State of the server's LLM; both null while replies are scripted. @typedef {{ model: string | null, host: string | null }} LlmState */

/** LLM of the server: its state in the header, and for administrators a dialog that connects one. */
export class LlmPanel {
  #key;
  #button = element('llm-open', HTMLButtonElement);
  #line = element('llm-line', HTMLElement);
  #ofSettings = element('settings-llm', HTMLButtonElement);
  #dialog = element('llm', HTMLDialogElement);
  #form = element('llm-form', HTMLFormElement);
  #url = element('llm-url', HTMLInputElement);
  #secret = element('llm-key', HTMLInputElement);
  #model = element('llm-model', HTMLInputElement);
  #models = element('llm-models', HTMLDataListElement);
  #servers = element('llm-servers', HTMLUListElement);
  #status = element('llm-status', HTMLElement);
  #now = element('llm-now', HTMLElement);
  #disconnect = element('llm-disconnect', HTMLButtonElement);

  /** @param {() => string} key API key; the empty string if the server needs none */
  constructor(key) {
    this.#key = key;
    const search = () => void this.#search();
    const open = () => {
      this.#dialog.showModal();
      search();
    };
    this.#button.addEventListener('click', open);
    this.#ofSettings.addEventListener('click', open);
    element('llm-search', HTMLButtonElement).addEventListener('click', search);
    element('llm-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    element('llm-list', HTMLButtonElement).addEventListener('click', () => void this.#list());
    element('llm-test', HTMLButtonElement).addEventListener('click', () => void this.#test());
    this.#disconnect.addEventListener('click', () => void this.#change('DELETE', undefined, 'Disconnected'));
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#change('PUT', this.#connection, 'Connected');
    });
  }

  /**
   * Asks the server for its LLM. Administrators get a button that changes it, others a line that names it.
   *
   * @param {{ isScripted: boolean, model: string | null }} told what every user may know
   */
  async refresh({ isScripted, model }) {
    const { ok, body } = await this.#ask('GET', '/llm');
    this.#button.hidden = !ok;
    this.#ofSettings.hidden = !ok;
    this.#line.hidden = ok;
    this.#line.textContent = isScripted ? 'Scripted replies' : `Replies by ${model ?? 'a model'}`;
    if (ok) this.#show(body);
  }

  /** @param {LlmState} state */
  #show({ model, host }) {
    const isScripted = model === null;
    const place = host === null || host === '127.0.0.1' ? 'localhost' : host;
    const text = isScripted ? 'Scripted replies' : `${model}${host === null ? '' : ` at ${place}`}`;
    this.#button.replaceChildren(text, ...(isScripted ? [make('span', 'more', ' · connect an LLM')] : []));
    this.#button.dataset.scripted = String(isScripted);
    this.#now.textContent = isScripted
      ? 'Characters reply with lines written for them. Connect an LLM, and they talk freely.'
      : `Characters reply with ${text}.`;
    this.#disconnect.hidden = isScripted;
  }

  get #connection() {
    return { ...this.#server, model: this.#model.value.trim() };
  }

  get #server() {
    const key = this.#secret.value.trim();
    return { url: this.#url.value.trim(), ...(key === '' ? {} : { key }) };
  }

  async #search() {
    this.#tell('Searching this machine…');
    const { ok, body } = await this.#ask('GET', '/llm/servers');
    /** @type {{ name: string, url: string, models: string[] }[]} */
    const found = ok ? body.servers : [];
    this.#servers.replaceChildren(...found.map((server) => make('li', '', this.#choice(server))));
    if (!ok) return this.#tell(complaint(body));
    this.#tell(
      found.length === 0
        ? 'No LLM server runs on this machine. Start Ollama, LM Studio, llama.cpp or vLLM and search again, or type its address.'
        : '',
    );
    const [only] = found;
    if (found.length === 1 && only !== undefined && this.#url.value === '') this.#fill(only);
  }

  /** @param {{ name: string, url: string, models: string[] }} server */
  #choice(server) {
    const count = `${server.models.length} ${server.models.length === 1 ? 'model' : 'models'}`;
    const button = make('button', 'plain', make('strong', '', server.name), ` ${server.url.slice(7)} · ${count}`);
    button.type = 'button';
    button.addEventListener('click', () => this.#fill(server));
    return button;
  }

  /** @param {{ url: string, models: readonly string[] }} server */
  #fill({ url, models }) {
    this.#url.value = url;
    this.#offer(models);
  }

  /** @param {readonly string[]} models */
  #offer(models) {
    const options = models.map((model) => {
      const option = make('option', '');
      option.value = model;
      return option;
    });
    this.#models.replaceChildren(...options);
    if (!models.includes(this.#model.value)) this.#model.value = models[0] ?? '';
  }

  async #list() {
    if (!this.#url.reportValidity()) return;
    this.#tell('Asking for the models…');
    const { ok, body } = await this.#ask('POST', '/llm/models', this.#server);
    if (!ok) return this.#tell(complaint(body));
    this.#offer(body.models);
    this.#tell(body.models.length === 0 ? 'The server has no models yet.' : `Models: ${body.models.join(', ')}`);
  }

  async #test() {
    if (!this.#form.reportValidity()) return;
    this.#tell('Waiting for the model’s first words…');
    const { ok, body } = await this.#ask('POST', '/llm/test', this.#connection);
    this.#tell(ok ? `It said “${body.text}” after ${(body.ms / 1000).toFixed(1)} s.` : complaint(body));
  }

  /**
   * @param {'PUT' | 'DELETE'} method
   * @param {unknown} connection
   * @param {string} done
   */
  async #change(method, connection, done) {
    this.#tell('One moment…');
    const { ok, body } = await this.#ask(method, '/llm', connection);
    if (!ok) return this.#tell(complaint(body));
    this.#show(body);
    const keyNote =
      method === 'PUT' && this.#secret.value !== ''
        ? ' The key is not saved: set DRAMATIS_LLM_API_KEY for the next start of the server.'
        : '';
    this.#tell(`${done}. The next conversation uses it.${keyNote}`);
  }

  /** @param {string} text */
  #tell(text) {
    this.#status.textContent = text;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [content]
   */
  #ask(method, path, content) {
    return askServer(this.#key(), method, path, content);
  }
}
