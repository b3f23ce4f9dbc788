import { askUser } from './ask-user.js';

/**
 * @param {string} name
 * @param {boolean} isEditable
 * @returns {Promise<'save' | 'discard' | undefined>} undefined: stay on the card
 */
export async function askAboutChanges(name, isEditable) {
  const answer = await askUser({
    title: 'Some changes are not saved',
    text: `What you changed of ${name} is not saved yet.`,
    buttons: [
      ...(isEditable ? [{ value: 'save', label: 'Save', isMain: true }] : []),
      { value: 'discard', label: 'Throw them away', isGrave: true },
    ],
  });
  return /** @type {'save' | 'discard' | undefined} */ (answer?.button);
}

/**
 * @param {string} text the server's message
 * @returns {Promise<'copy' | 'theirs' | undefined>}
 */
export async function askAboutConflict(text) {
  const answer = await askUser({
    title: 'Somebody else saved first',
    text,
    buttons: [
      { value: 'copy', label: 'Save mine as a copy', isMain: true },
      { value: 'theirs', label: 'Open theirs, drop mine', isGrave: true },
    ],
  });
  return /** @type {'copy' | 'theirs' | undefined} */ (answer?.button);
}

/**
 * @param {string} name
 * @returns {Promise<boolean>} whether to create the character again from the form
 */
export async function askAboutDeleted(name) {
  const answer = await askUser({
    title: 'Somebody else has deleted it',
    text: `${name} is no longer on the server.`,
    buttons: [{ value: 'anew', label: 'Put mine there anew', isMain: true }],
  });
  return answer !== undefined;
}

/**
 * @param {string} name
 * @returns {Promise<string | undefined>} name of the copy
 */
export async function askForCopy(name) {
  const answer = await askUser({
    title: `Copy ${name}`,
    fields: [{ name: 'name', label: 'Name of the copy', value: name, isNeeded: true }],
    buttons: [{ value: 'copy', label: 'Copy', isMain: true }],
  });
  return answer?.values['name'];
}

/** @returns {Promise<Record<string, string> | undefined>} the fields of a Character Card V1 */
export async function askForNew() {
  const answer = await askUser({
    title: 'A new character',
    fields: [
      { name: 'name', label: 'Name', isNeeded: true },
      {
        name: 'description',
        label: 'Who is it?',
        hint: 'A sentence or two; the rest comes later.',
        isLong: true,
        isNeeded: true,
      },
      { name: 'first_mes', label: 'How does it greet?', hint: 'May stay empty.', isLong: true },
    ],
    buttons: [{ value: 'create', label: 'Create', isMain: true }],
  });
  return answer?.values;
}

/**
 * @param {string} name
 * @returns {Promise<boolean>}
 */
export async function askToDelete(name) {
  const answer = await askUser({
    title: `Delete ${name}?`,
    text: 'The card, its lines and its picture are gone for good. Export it first if you may want it back.',
    buttons: [{ value: 'delete', label: 'Delete', isGrave: true }],
  });
  return answer !== undefined;
}
