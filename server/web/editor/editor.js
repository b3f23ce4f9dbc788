import { element, make } from '../browser/dom.js';
import { readStored, writeStored } from '../browser/browser-storage.js';
import { ask, placeOf, Refusal } from './api.js';
import { importCard, watchFiles } from './import-card.js';
import { CharacterList } from './character-list.js';
import { askAboutChanges, askAboutConflict, askAboutDeleted, askForCopy, askForNew, askToDelete } from './questions.js';
import { TestTalk } from './test-talk.js';
import { Sheet } from './sheet.js';

const notice = element('notice', HTMLElement);
const keyForm = element('key-form', HTMLFormElement);
const keyInput = element('key', HTMLInputElement);
const menu = element('export', HTMLDetailsElement);

const list = new CharacterList((id) => attempt(() => choose(id)));
const sheet = new Sheet(() => testTalk.changed());
const testTalk = new TestTalk(async () => {
  try {
    const secret = await sheet.draft();
    const { id, name, tagline, languages } = sheet.pack.card;
    return { secret, character: { id, name, tagline, languages } };
  } catch (fault) {
    tell(fault);
    return undefined;
  }
});

/**
 * Runs `work` and shows its error, if any.
 *
 * @param {() => Promise<void>} work
 */
function attempt(work) {
  say('');
  work().catch(tell);
}

/** @param {unknown} fault */
function tell(fault) {
  if (fault instanceof Refusal && fault.status === 401) askForKey();
  else if (!(fault instanceof Refusal && fault.issues.length > 0))
    say(fault instanceof Error ? fault.message : String(fault), true);
}

/**
 * @param {string} text
 * @param {boolean} [isFault]
 */
function say(text, isFault = false) {
  notice.textContent = text;
  notice.classList.toggle('fault', isFault);
}

function askForKey() {
  keyForm.hidden = false;
  say(readStored('tab', 'key') === '' ? 'This server requires an API key.' : 'The API key is not valid.', true);
  show('cast');
  keyInput.focus();
}

/** @param {'cast' | 'card' | 'try'} view view on narrow screens */
function show(view) {
  document.documentElement.dataset.view = view;
  // The focused element may be hidden now.
  if (view === 'card' && !element('cast', HTMLElement).checkVisibility()) element('sheet', HTMLElement).focus();
  if (view === 'cast') list.mark(sheet.id);
}

async function showList() {
  const { characters } = await (await ask('/characters')).json();
  list.show(characters);
  keyForm.hidden = true;
}

/** @param {string} id */
async function choose(id) {
  if (id === sheet.id) return show('card');
  if (await mayLeave()) await open(id);
}

/** @param {string} id */
async function open(id) {
  await sheet.open(id);
  testTalk.reset();
  element('test-talk', HTMLElement).hidden = false;
  list.mark(id);
  history.replaceState(null, '', `#${id}`);
  element('conversation-link', HTMLAnchorElement).href = `/#${id}`;
  document.title = `${sheet.name} · Characters · Dramatis`;
  show('card');
}

/** @returns {Promise<boolean>} whether the card may be left: saved, or its changes discarded */
async function mayLeave() {
  if (!sheet.isChanged) return true;
  const answer = await askAboutChanges(sheet.name || 'this character', sheet.isEditable);
  if (answer === 'save') await save();
  return answer === 'discard' || (answer === 'save' && !sheet.isChanged);
}

async function save() {
  try {
    await sheet.save();
  } catch (fault) {
    if (fault instanceof Refusal && fault.code === 'character_changed') return settleConflict(fault.message);
    if (!(fault instanceof Refusal && fault.code === 'unknown_character')) throw fault;
    return (await askAboutDeleted(sheet.name)) ? copy(sheet.name) : undefined;
  }
  await showList();
  list.mark(sheet.id);
  say('Saved. The next conversation uses the new card.');
}

/** @param {string} message */
async function settleConflict(message) {
  const answer = await askAboutConflict(message);
  if (answer === 'copy') await copy(`${sheet.name} 2`);
  else if (answer === 'theirs') await open(sheet.id);
  else say('Not saved: someone else changed the character.', true);
}

/** @param {string} name */
async function copy(name) {
  const id = await sheet.copy(name);
  await showList();
  await open(id);
  say('Copied. You can edit this copy.');
}

async function create() {
  if (!(await mayLeave())) return;
  const card = await askForNew();
  if (card === undefined) return;
  const imported = await importCard(new Blob([JSON.stringify(card)]), card['name'] ?? '');
  if (imported !== undefined) await welcome([imported], 'Created. Test it, and continue editing.');
}

/** @param {readonly File[]} files */
async function importCards(files) {
  if (!(await mayLeave())) return;
  const imported = [];
  /** @type {string[]} */
  const faults = [];
  for (const file of files) {
    say(`Importing ${file.name}…`);
    try {
      const each = await importCard(file, file.name);
      if (each !== undefined) imported.push(each);
    } catch (fault) {
      if (fault instanceof Refusal && fault.status === 401) throw fault;
      faults.push(fault instanceof Error ? fault.message : String(fault));
    }
  }
  say('');
  const words = imported.length > 1 ? `${imported.length} imported.` : 'Imported.';
  if (imported.length > 0) await welcome(imported, [words, ...imported.flatMap(({ notes }) => notes)].join(' '));
  if (faults.length > 0) say([notice.textContent, ...faults].filter(Boolean).join(' '), true);
}

/**
 * @param {readonly { id: string }[]} imported
 * @param {string} words
 */
async function welcome(imported, words) {
  await showList();
  await open(imported.at(-1)?.id ?? '');
  say(words);
}

async function remove() {
  const { name } = sheet;
  if (!(await askToDelete(name))) return;
  await sheet.remove();
  sheet.close();
  testTalk.reset();
  element('test-talk', HTMLElement).hidden = true;
  history.replaceState(null, '', location.pathname);
  list.mark('');
  show('cast');
  await showList();
  say(`${name} was deleted.`);
}

/**
 * @param {string} format
 * @param {string} spec
 */
async function download(format, spec) {
  menu.open = false;
  if (sheet.isChanged) throw new Error('Save first: exports contain only saved changes.');
  const reply = await ask(`${placeOf(sheet.id)}/export?format=${format}&spec=${spec}`);
  const link = make('a', '');
  link.href = URL.createObjectURL(await reply.blob());
  link.download = `${sheet.id}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * @param {string} id
 * @param {() => Promise<void>} work
 */
function onClick(id, work) {
  element(id, HTMLButtonElement).addEventListener('click', () => attempt(work));
}

element('card', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  if (sheet.isEditable) attempt(save);
});
onClick('copy', async () => {
  const name = await askForCopy(sheet.name);
  if (name !== undefined) await copy(name);
});
onClick('delete', remove);
onClick('new', create);
element('test', HTMLButtonElement).addEventListener('click', () => {
  show('try');
  element('text', HTMLInputElement).focus();
});
element('leave', HTMLButtonElement).addEventListener('click', () => show('card'));
element('back', HTMLButtonElement).addEventListener('click', () => show('cast'));
for (const button of menu.querySelectorAll('button')) {
  const { format = 'png', spec = 'v3' } = button.dataset;
  button.addEventListener('click', () => attempt(() => download(format, spec)));
}
document.addEventListener('click', ({ target }) => {
  if (target instanceof Node && !menu.contains(target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    menu.open = false;
    testTalk.stop();
  }
  if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  if (sheet.isEditable && sheet.isChanged) attempt(save);
});
addEventListener('beforeunload', (event) => {
  if (sheet.isChanged) event.preventDefault();
});
addEventListener('hashchange', () => attempt(() => choose(location.hash.slice(1))));
keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  writeStored('tab', 'key', keyInput.value.trim());
  keyInput.value = '';
  attempt(begin);
});
const picture = element('picture', HTMLInputElement);
picture.addEventListener('change', () => {
  const [file] = picture.files ?? [];
  picture.value = '';
  if (file === undefined) return;
  attempt(async () => {
    await sheet.setPicture(await pngOf(file));
    await showList();
  });
});
watchFiles((files) => attempt(() => importCards(files)));

async function begin() {
  await showList();
  const wanted = location.hash.slice(1);
  if (list.has(wanted)) await open(wanted);
}
attempt(begin);

/** Maximum length of the longer side, in pixels: portraits are small, and cards are sent around. */
const LONGEST = 1024;

/**
 * Converts any image that the browser can read to a PNG of limited size. Throws a Refusal if it
 * cannot be read.
 *
 * @param {File} file
 * @returns {Promise<Blob>}
 */
async function pngOf(file) {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Refusal(400, '', `${file.name} is not a picture that this browser can read.`);
  });
  const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
