import { make } from '../browser/dom.js';
import { leaf, newId } from './field.js';

/** @typedef {import('./field.js').Field} Field */
/** @typedef {import('./field.js').Rule} Rule */
/** @typedef {import('./field.js').Values} Values */

/**
 * @typedef {object} About
 * @property {string} label
 * @property {string} [hint]
 * @property {boolean} [optional] an empty value is removed from the card
 */

/** Fraction of the length limit from which the count is shown. */
const COUNT_FROM = 0.8;

/** Creates the fields of one object of the card; limits and choices come from the card's schema. */
export class Fields {
  #object;
  #rule;
  #isReadOnly;
  #attach;

  /**
   * @param {Values} object input is written to it
   * @param {Rule} rule its schema
   * @param {boolean} isReadOnly
   * @param {() => void} [attach] called before anything is written
   */
  constructor(object, rule, isReadOnly, attach) {
    this.#object = object;
    this.#rule = rule;
    this.#isReadOnly = isReadOnly;
    this.#attach = attach;
  }

  get isReadOnly() {
    return this.#isReadOnly;
  }

  /**
   * Returns the fields of a nested object; if the card has none, it is added with the first input.
   *
   * @param {string} key
   */
  inside(key) {
    const inner = this.#object[key] ?? {};
    return new Fields(inner, this.ruleOf(key), this.#isReadOnly, () => this.set(key, inner));
  }

  /** @param {string} key */
  ruleOf(key) {
    return this.#rule.properties?.[key] ?? {};
  }

  /** @param {string} key */
  valueOf(key) {
    return this.#object[key];
  }

  /**
   * @param {string} key
   * @param {unknown} value undefined removes the key
   */
  set(key, value) {
    this.#attach?.();
    if (value === undefined) delete this.#object[key];
    else this.#object[key] = value;
  }

  /**
   * Creates a single-line text field.
   *
   * @param {string} key
   * @param {About} about
   */
  line(key, about) {
    return this.#text(make('input', ''), key, about);
  }

  /**
   * Creates a multi-line text field.
   *
   * @param {string} key
   * @param {About} about
   */
  long(key, about) {
    return this.#text(make('textarea', ''), key, about);
  }

  /**
   * Creates a field for a list of short texts, one per line.
   *
   * @param {string} key
   * @param {About} about
   * @returns {Field}
   */
  list(key, about) {
    const input = make('textarea', 'list');
    const texts = this.valueOf(key);
    input.value = Array.isArray(texts) ? texts.join('\n') : '';
    return this.#bound(input, key, { ...about, hint: about.hint ?? 'One per line.' }, () => {
      const lines = input.value.split('\n').map((text) => text.trim());
      const written = lines.filter((text) => text !== '');
      this.set(key, about.optional === true && written.length === 0 ? undefined : written);
    });
  }

  /**
   * @param {string} key
   * @param {About} about
   * @returns {Field}
   */
  number(key, about) {
    const { type, minimum, maximum } = this.ruleOf(key);
    const input = make('input', '');
    input.type = 'number';
    input.step = type === 'integer' ? '1' : 'any';
    // The schema gives unbounded integers the safe-integer limits: not worth showing.
    if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) input.min = String(minimum);
    if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) input.max = String(maximum);
    input.value = String(this.valueOf(key) ?? '');
    return this.#bound(input, key, about, () => this.set(key, input.value === '' ? undefined : Number(input.value)));
  }

  /**
   * @param {string} key
   * @param {About & { usually?: boolean }} about `usually`: value if the card has none
   * @returns {Field}
   */
  check(key, { usually = false, ...about }) {
    const input = make('input', '');
    input.type = 'checkbox';
    input.checked = this.valueOf(key) ?? usually;
    const take = () => this.set(key, about.optional === true && input.checked === usually ? undefined : input.checked);
    return this.#bound(input, key, { ...about, beside: true }, take);
  }

  /**
   * @param {string} key
   * @param {About & { words?: Readonly<Record<string, string>> }} about `words`: labels of choices,
   *   if different from their values
   * @returns {Field}
   */
  choice(key, { words = {}, ...about }) {
    const input = make('select', '');
    if (about.optional === true) input.append(new Option(words[''] ?? '–', ''));
    input.append(...(this.ruleOf(key).enum ?? []).map((value) => new Option(words[value] ?? value, value)));
    input.value = this.valueOf(key) ?? '';
    return this.#bound(input, key, about, () => this.set(key, input.value === '' ? undefined : input.value));
  }

  /**
   * Creates a slider with labeled ends.
   *
   * @param {string} key
   * @param {About & { ends: readonly [string, string], usually: number }} about
   * @returns {Field}
   */
  slider(key, { ends: [low, high], usually, ...about }) {
    const { minimum = 0, maximum = 1 } = this.ruleOf(key);
    const input = make('input', '');
    Object.assign(input, { type: 'range', min: String(minimum), max: String(maximum), step: '0.01' });
    input.value = String(this.valueOf(key) ?? usually);
    const figure = make('output', '', Number(input.value).toFixed(2));
    const ends = make('div', 'ends', make('span', '', low), figure, make('span', '', high));
    return this.#bound(
      input,
      key,
      about,
      () => {
        figure.textContent = Number(input.value).toFixed(2);
        this.set(key, Number(input.value));
      },
      ends,
    );
  }

  /**
   * @param {HTMLInputElement | HTMLTextAreaElement} input
   * @param {string} key
   * @param {About} about
   * @returns {Field}
   */
  #text(input, key, about) {
    const { maxLength = Number.POSITIVE_INFINITY } = this.ruleOf(key);
    input.value = this.valueOf(key) ?? '';
    const count = make('p', 'count');
    count.id = newId();
    const showCount = () => {
      const { length } = input.value;
      count.textContent = length > COUNT_FROM * maxLength ? `${length} of ${maxLength}` : '';
      count.classList.toggle('over', length > maxLength);
    };
    showCount();
    const take = () => {
      showCount();
      this.set(key, about.optional === true && input.value.trim() === '' ? undefined : input.value);
    };
    return this.#bound(input, key, about, take, count);
  }

  /**
   * @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input
   * @param {string} key
   * @param {About & { beside?: boolean }} about
   * @param {() => void} take
   * @param {...HTMLElement} more
   * @returns {Field}
   */
  #bound(input, key, { label, hint, beside }, take, ...more) {
    input.disabled = this.#isReadOnly;
    // Read-only texts can be selected and copied.
    if (input instanceof HTMLTextAreaElement || (input instanceof HTMLInputElement && input.type === 'text')) {
      input.disabled = false;
      input.readOnly = this.#isReadOnly;
    }
    if (input instanceof HTMLTextAreaElement) input.rows = 2;
    input.addEventListener('input', take);
    return leaf(input, { label, hint, name: key, beside: beside === true }, ...more);
  }
}
