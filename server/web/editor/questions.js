import { askUser } from './ask-user.js';

/**
 * @param {string} name
 * @param {boolean} isEditable
 * @returns {Promise<'save' | 'discard' | undefined>} undefined: stay on the card
 */
export async function askAboutChanges(name, isEditable) {
  const answer = await askUser({
    title: 'Unsaved changes',
    text: `Your changes to ${name} are not saved.`,
    buttons: [
      ...(isEditable ? [{ value: 'save', label: 'Save', isMain: true }] : []),
      { value: 'discard', label: 'Discard', isGrave: true },
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
    title: 'Someone else saved first',
    text,
    buttons: [
      { value: 'copy', label: 'Save mine as a copy', isMain: true },
      { value: 'theirs', label: 'Discard mine, open theirs', isGrave: true },
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
    title: 'Someone else deleted it',
    text: `${name} is no longer on the server.`,
    buttons: [{ value: 'create', label: 'Create it again', isMain: true }],
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
    title: 'New character',
    fields: [
      { name: 'name', label: 'Name', isNeeded: true },
      {
        name: 'description',
        label: 'Description',
        hint: 'One or two sentences. You can add the rest later.',
        isLong: true,
        isNeeded: true,
      },
      { name: 'first_mes', label: 'Greeting', hint: 'Optional.', isLong: true },
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
    text: 'The card, its lines and its picture are deleted permanently. Export it first to keep a copy.',
    buttons: [{ value: 'delete', label: 'Delete', isGrave: true }],
  });
  return answer !== undefined;
}
