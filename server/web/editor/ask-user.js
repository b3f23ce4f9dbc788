import { element, make } from '../browser/dom.js';
import { newId } from './field.js';

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {string} [text]
 * @property {readonly { name: string, label: string, hint?: string, value?: string,
 *   isLong?: boolean, isNeeded?: boolean }[]} [fields]
 * @property {readonly { value: string, label: string, isMain?: boolean, isGrave?: boolean }[]}
 *   buttons
 */

/**
 * Asks the user in a modal dialog.
 *
 * @param {Question} question
 * @returns {Promise<{ button: string, values: Record<string, string> } | undefined>} undefined if
 *   it was closed without an answer
 */
export function askUser({ title, text, fields = [], buttons }) {
  const dialog = element('question', HTMLDialogElement);
  const heading = make('h2', '', title);
  heading.id = 'question-title';
  const inputs = fields.map(({ name, label, hint, value = '', isLong = false, isNeeded = false }) => {
    const input = make(isLong ? 'textarea' : 'input', '');
    Object.assign(input, { id: newId(), name, value, required: isNeeded });
    const caption = make('label', '', label);
    caption.htmlFor = input.id;
    const words = hint === undefined ? [] : [make('p', 'hint', hint)];
    return { name, input, node: make('div', 'field', caption, ...words, input) };
  });
  const choices = buttons.map(({ value, label, isMain = false, isGrave = false }) => {
    const button = make('button', isMain ? 'main' : isGrave ? 'plain grave' : 'plain', label);
    button.value = value;
    return button;
  });
  const cancel = make('button', 'plain', 'Cancel');
  cancel.type = 'button';
  // If there is only a destructive choice, Enter cancels.
  cancel.autofocus = fields.length === 0 && !buttons.some(({ isMain }) => isMain);
  cancel.addEventListener('click', () => dialog.close());
  const form = make(
    'form',
    '',
    heading,
    ...(text === undefined ? [] : [make('p', '', text)]),
    ...inputs.map(({ node }) => node),
    make('div', 'buttons', ...choices, cancel),
  );
  form.method = 'dialog';
  dialog.replaceChildren(form);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      'close',
      () => {
        const values = Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()]));
        resolve(dialog.returnValue === '' ? undefined : { button: dialog.returnValue, values });
      },
      { once: true },
    );
  });
}
