import { fieldFor } from './card-fields.js';
import { element, make } from './dom.js';
import { recall, remember } from './remember.js';

/** @typedef {import('./card-fields.js').Field} Field */

const list = element('list', HTMLUListElement);
const form = element('card', HTMLFormElement);
const notice = element('notice', HTMLElement);
const save = element('save', HTMLButtonElement);
const upload = element('upload', HTMLInputElement);
const keyForm = element('key-form', HTMLFormElement);
const keyInput = element('key', HTMLInputElement);

let chosen = '';
/** @type {Field | undefined} */
let card;
/** @type {Field | undefined} */
let lines;

/**
 * Asks the server; what it refuses is thrown as the words it refuses with.
 *
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function ask(path, options = {}) {
  const key = recall('tab', 'key');
  const headers = new Headers(options.headers);
  if (key !== '') headers.set('authorization', `Bearer ${key}`);
  const reply = await fetch(path, { ...options, headers });
  if (reply.status === 401) keyForm.hidden = false;
  if (!reply.ok) {
    const { error } = await reply.json();
    throw new Error([error.param, error.message].filter(Boolean).join(': '));
  }
  return reply;
}

/**
 * Does something, and says what went wrong.
 *
 * @param {() => Promise<void>} work
 */
function attempt(work) {
  notice.textContent = '';
  work().catch((fault) => {
    notice.textContent = fault instanceof Error ? fault.message : String(fault);
  });
}

async function showList() {
  const { characters } = await (await ask('/characters')).json();
  list.replaceChildren(
    ...characters.map((/** @type {{ id: string, name: string, tagline: string }} */ { id, name, tagline }) => {
      const button = make('button', '', make('strong', '', name), ' ', tagline);
      button.type = 'button';
      button.dataset.id = id;
      button.addEventListener('click', () => attempt(() => open(id)));
      return make('li', '', button);
    }),
  );
  keyForm.hidden = true;
}

/** @param {string} id */
async function open(id) {
  const [schema, pack] = await Promise.all([
    ask('/characters/schema').then((reply) => reply.json()),
    ask(`/characters/${encodeURIComponent(id)}`).then((reply) => reply.json()),
  ]);
  chosen = id;
  card = fieldFor('Card', schema.properties.card, pack.card, pack.editable);
  lines = fieldFor('Example lines', schema.properties.lines, pack.lines, pack.editable);
  form.replaceChildren(card.node, lines.node);
  element('title', HTMLElement).textContent = pack.card.name;
  element('actions', HTMLElement).hidden = false;
  save.hidden = !pack.editable;
  if (!pack.editable)
    notice.textContent = 'A shipped character is read only. Export it, and bring it in under another name.';
}

/** @param {'png' | 'json' | 'charx'} format */
async function download(format) {
  const reply = await ask(`/characters/${encodeURIComponent(chosen)}/export?format=${format}`);
  const link = make('a', '');
  link.href = URL.createObjectURL(await reply.blob());
  link.download = `${chosen}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(async () => {
    const body = JSON.stringify({ card: card?.read(), lines: lines?.read() ?? [] });
    await ask(`/characters/${encodeURIComponent(chosen)}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await showList();
    await open(chosen);
    notice.textContent = 'Saved. The next talk is with the new card.';
  });
});

upload.addEventListener('change', () => {
  const [file] = upload.files ?? [];
  if (file === undefined) return;
  attempt(async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const reply = await ask('/characters/import', { method: 'POST', headers, body: file });
    const { id, notes } = await reply.json();
    upload.value = '';
    await showList();
    await open(id);
    notice.textContent = ['Brought in.', ...notes].join(' ');
  });
});

keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  remember('tab', 'key', keyInput.value);
  attempt(showList);
});

for (const format of /** @type {const} */ (['png', 'json', 'charx']))
  element(format, HTMLButtonElement).addEventListener('click', () => attempt(() => download(format)));
element('try', HTMLButtonElement).addEventListener('click', () => {
  remember('visits', 'character', chosen);
  location.assign('/');
});
attempt(showList);
