import { make } from '../browser/dom.js';

/**
 * Part of a form, bound to a value in the card: input is written to the card at once.
 *
 * @typedef {object} Field
 * @property {HTMLElement} node
 * @property {string} label
 * @property {(path: readonly string[]) => Field} at returns the innermost field at a path below
 *   this one, and makes it visible
 * @property {(message: string) => void} showError shows an error until the field is changed
 * @property {() => void} focus
 */

/**
 * The subset of JSON Schema used by the card's schema.
 *
 * @typedef {object} Rule
 * @property {string} [type]
 * @property {readonly string[]} [enum]
 * @property {number} [maxLength]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {Rule} [items]
 * @property {Readonly<Record<string, Rule>>} [properties]
 */

/** @typedef {Record<string, any>} Values */

let fields = 0;

/** Returns a unique element id. */
export function newId() {
  fields += 1;
  return `field-${fields}`;
}

/**
 * Creates a field without parts: label, input, hint, and errors.
 *
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 * @param {{ label: string, hint?: string | undefined, name: string, beside?: boolean }} about
 *   `beside`: the label follows the input
 * @param {...HTMLElement} more placed after the input
 * @returns {Field}
 */
export function leaf(input, { label, hint, name, beside = false }, ...more) {
  input.id = newId();
  input.name = name;
  const title = make('label', '', label);
  title.htmlFor = input.id;
  const node = make('div', `field ${beside ? 'check' : ''}`, ...(beside ? [input, title] : [title, input]), ...more);
  if (hint !== undefined) {
    const words = make('p', 'hint', hint);
    words.id = `${input.id}-hint`;
    input.setAttribute('aria-describedby', words.id);
    if (beside) node.append(words);
    else title.after(words);
  }
  /** @type {Field} */
  const field = {
    node,
    label,
    at: () => field,
    showError: (message) => showErrorIn(node, message, input),
    focus: () => input.focus(),
  };
  return field;
}

/**
 * Shows an error at the end of a field; the next change removes it.
 *
 * @param {HTMLElement} node
 * @param {string} message
 * @param {HTMLElement} [input] the invalid input
 */
export function showErrorIn(node, message, input) {
  node.querySelector(':scope > .problem')?.remove();
  const problem = make('p', 'problem', message);
  problem.id = newId();
  node.append(problem);
  input?.setAttribute('aria-invalid', 'true');
  input?.setAttribute('aria-errormessage', problem.id);
  node.addEventListener(
    'input',
    () => {
      problem.remove();
      input?.removeAttribute('aria-invalid');
      input?.removeAttribute('aria-errormessage');
    },
    { once: true },
  );
}

/**
 * Groups several fields; `parts` are by key of the card.
 *
 * @param {HTMLElement} node
 * @param {string} label
 * @param {Readonly<Record<string, Field>>} parts
 * @param {() => void} [show] makes the group visible
 * @returns {Field}
 */
export function group(node, label, parts, show) {
  /** @type {Field} */
  const field = {
    node,
    label,
    at([key, ...rest]) {
      show?.();
      return (key === undefined ? undefined : parts[key])?.at(rest) ?? field;
    },
    showError: (message) => showErrorIn(node, message),
    focus() {
      const first = node.querySelector('input, textarea, select, button');
      if (first instanceof HTMLElement) first.focus();
    },
  };
  return field;
}

/**
 * Notifies the form of a change other than typing.
 *
 * @param {HTMLElement} node
 */
export function tellChange(node) {
  node.dispatchEvent(new Event('input', { bubbles: true }));
}
