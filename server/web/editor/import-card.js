import { element } from '../browser/dom.js';
import { ask, checkSize, Refusal } from './api.js';
import { askUser } from './ask-user.js';

const dropZone = element('drop', HTMLElement);
const upload = element('upload', HTMLInputElement);

/**
 * Calls `take` with card files chosen in the file dialog or dropped anywhere on the page.
 *
 * @param {(files: readonly File[]) => void} take
 */
export function watchFiles(take) {
  upload.addEventListener('change', () => {
    const files = [...(upload.files ?? [])];
    upload.value = '';
    if (files.length > 0) take(files);
  });
  /** @param {DragEvent} event */
  const brings = ({ dataTransfer }) => dataTransfer?.types.includes('Files') === true;
  addEventListener('dragover', (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    dropZone.hidden = false;
  });
  addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) dropZone.hidden = true;
  });
  addEventListener('drop', (event) => {
    dropZone.hidden = true;
    if (!brings(event)) return;
    event.preventDefault();
    take([...(event.dataTransfer?.files ?? [])]);
  });
}

/**
 * @param {Blob} file
 * @param {string} name
 * @returns {Promise<{ id: string, notes: readonly string[] } | undefined>} undefined if the user
 *   canceled
 */
export async function importCard(file, name) {
  checkSize(file, name);
  try {
    return await send(file, '');
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    if (fault.code !== 'character_exists') throw new Refusal(fault.status, fault.code, named(name, fault.message));
    const answer = await askUser({
      title: 'This character already exists',
      text: `${fault.message} Import ${name} as another character?`,
      buttons: [{ value: 'copy', label: 'Import as another', isMain: true }],
    });
    return answer === undefined ? undefined : send(file, '?as=copy');
  }
}

/**
 * @param {Blob} file
 * @param {string} query
 */
async function send(file, query) {
  const headers = { 'content-type': 'application/octet-stream' };
  const reply = await ask(`/characters/import${query}`, { method: 'POST', headers, body: file });
  return reply.json();
}

/**
 * Puts the file name into an error message: the server calls every file "card".
 *
 * @param {string} name
 * @param {string} message
 */
function named(name, message) {
  return message.startsWith('card:') ? `${name}${message.slice(4)}` : `${name}: ${message}`;
}
