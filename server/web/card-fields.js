import { make } from './dom.js';

/**
 * What of JSON Schema a card's schema uses.
 *
 * @typedef {object} FieldSchema
 * @property {string} [type]
 * @property {readonly string[]} [enum]
 * @property {number} [maxLength]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {unknown} [default]
 * @property {FieldSchema} [items]
 * @property {Readonly<Record<string, FieldSchema>>} [properties]
 */

/**
 * A field of a form; `read` gives its value, undefined where it is left empty. Throws where what was written is no JSON.
 *
 * @typedef {{ node: HTMLElement, read(): unknown }} Field
 */

const longLine = 400;

/**
 * The form field for one part of the schema: text, numbers, choices, lists of texts one a line, objects as groups, and anything
 * else as JSON. Values go in as values, never as markup.
 *
 * @param {string} name
 * @param {FieldSchema} schema
 * @param {unknown} value
 * @param {boolean} editable
 * @returns {Field}
 */
export function fieldFor(name, schema, value, editable) {
  if (schema.properties !== undefined) return group(name, schema.properties, value, editable);
  if (schema.enum !== undefined) return choice(name, schema.enum, value, editable);
  if (schema.type === 'boolean') {
    const input = make('input', '');
    input.type = 'checkbox';
    input.checked = value === true;
    return labelled(name, input, editable, () => input.checked);
  }
  if (schema.type === 'number' || schema.type === 'integer') {
    const input = make('input', '');
    input.type = 'number';
    input.step = schema.type === 'integer' ? '1' : 'any';
    input.value = typeof value === 'number' ? String(value) : '';
    return labelled(name, input, editable, () => (input.value === '' ? undefined : Number(input.value)));
  }
  if (schema.type === 'string') {
    const input = make((schema.maxLength ?? longLine) > longLine ? 'textarea' : 'input', '');
    input.value = typeof value === 'string' ? value : '';
    return labelled(name, input, editable, () => (input.value === '' && value === undefined ? undefined : input.value));
  }
  if (schema.type === 'array' && schema.items?.type === 'string') {
    const input = make('textarea', '');
    input.value = Array.isArray(value) ? value.join('\n') : '';
    return labelled(`${name}, one a line`, input, editable, () =>
      input.value
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    );
  }
  const input = make('textarea', '');
  input.value = value === undefined ? '' : JSON.stringify(value, undefined, 2);
  input.spellcheck = false;
  return labelled(`${name}, as JSON`, input, editable, () =>
    input.value.trim() === '' ? undefined : JSON.parse(input.value),
  );
}

/**
 * @param {string} name
 * @param {Readonly<Record<string, FieldSchema>>} properties
 * @param {unknown} value
 * @param {boolean} editable
 * @returns {Field}
 */
function group(name, properties, value, editable) {
  const values = /** @type {Readonly<Record<string, unknown>>} */ (
    typeof value === 'object' && value !== null ? value : {}
  );
  const fields = Object.entries(properties).map(([key, schema]) => ({
    key,
    field: fieldFor(key, schema, values[key], editable),
  }));
  const node = make('fieldset', '', make('legend', '', name), ...fields.map(({ field }) => field.node));
  return {
    node,
    read() {
      const entries = fields.map(({ key, field }) => [key, field.read()]).filter(([, each]) => each !== undefined);
      return value === undefined && entries.length === 0 ? undefined : Object.fromEntries(entries);
    },
  };
}

/**
 * @param {string} name
 * @param {readonly string[]} choices
 * @param {unknown} value
 * @param {boolean} editable
 * @returns {Field}
 */
function choice(name, choices, value, editable) {
  const input = make('select', '');
  input.append(...['', ...choices].map((each) => new Option(each, each)));
  input.value = typeof value === 'string' ? value : '';
  return labelled(name, input, editable, () => (input.value === '' ? undefined : input.value));
}

/**
 * @param {string} name
 * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
 * @param {boolean} editable
 * @param {() => unknown} read
 * @returns {Field}
 */
function labelled(name, input, editable, read) {
  input.disabled = !editable;
  input.name = name;
  return { node: make('label', '', name, input), read };
}
