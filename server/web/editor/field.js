import { make } from '../parts/dom.js';

/**
 * Part of a form, bound to its place in the card: what is written into it stands in the card at once.
 *
 * @typedef {object} Field
 * @property {HTMLElement} node
 * @property {string} label
 * @property {(path: readonly string[]) => Field} at the innermost field at a path below this one, brought into view
 * @property {(message: string) => void} complain says what is wrong with it, until it is changed
 * @property {() => void} focus
 */

/**
 * What of JSON Schema a card's schema uses.
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

/** An id that no other element has. */
export function newId() {
  fields += 1;
  return `field-${fields}`;
}

/**
 * A field without parts: a label, what one writes into, a hint, and room for a complaint.
 *
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 * @param {{ label: string, hint?: string | undefined, name: string, beside?: boolean }} about `beside`: the label stands after it
 * @param {...HTMLElement} more stands after the input
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
    complain: (message) => complainIn(node, message, input),
    focus: () => input.focus(),
  };
  return field;
}

/**
 * Shows a complaint at the end of a field; the next change takes it away.
 *
 * @param {HTMLElement} node
 * @param {string} message
 * @param {HTMLElement} [input] what it is about
 */
export function complainIn(node, message, input) {
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
 * Several fields under one name; `parts` are by the keys of the card.
 *
 * @param {HTMLElement} node
 * @param {string} label
 * @param {Readonly<Record<string, Field>>} parts
 * @param {() => void} [show] brings it into view
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
    complain: (message) => complainIn(node, message),
    focus() {
      const first = node.querySelector('input, textarea, select, button');
      if (first instanceof HTMLElement) first.focus();
    },
  };
  return field;
}

/**
 * Tells the form that something was changed by other means than writing.
 *
 * @param {HTMLElement} node
 */
export function tellChange(node) {
  node.dispatchEvent(new Event('input', { bubbles: true }));
}
