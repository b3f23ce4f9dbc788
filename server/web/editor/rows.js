import { make } from '../browser/dom.js';
import { showErrorIn, newId, tellChange } from './field.js';

/** @typedef {import('./field.js').Field} Field */

/** Rows per page: lorebooks have thousands. */
const PAGE = 25;
/** Minimum number of rows for the search field to appear. */
const SEARCHABLE = 8;

/**
 * @typedef {object} About
 * @property {unknown[]} list changed in place
 * @property {string} label label of the list
 * @property {string} one name of one row, such as "Entry"
 * @property {string} [hint]
 * @property {boolean} isReadOnly
 * @property {() => unknown} blank creates an empty row value
 * @property {(index: number) => Field} row
 * @property {(index: number) => string} textOf text that the search matches
 */

/**
 * Creates the rows of a list in the card: added, removed and moved with buttons, or moved with Alt
 * and the arrow keys.
 *
 * @param {About} about
 * @returns {Field}
 */
export function rows(about) {
  return new Rows(about);
}

/** @implements {Field} */
class Rows {
  #about;
  #title = make('h3', '');
  #items = make('ol', 'items');
  #pager = make('p', 'pager');
  #search = make('input', 'search');
  #add;
  /** @type {Map<number, Field>} by index in the list */
  #shown = new Map();
  #from = 0;

  /** @param {About} about */
  constructor(about) {
    this.#about = about;
    const { label, one, hint, isReadOnly } = about;
    this.label = label;
    this.#title.id = newId();
    Object.assign(this.#search, { type: 'search', placeholder: 'Search…', ariaLabel: `Search in ${label}` });
    // Typing in the search field is not a change of the card.
    this.#search.addEventListener('input', (event) => {
      event.stopPropagation();
      this.#turnTo(0);
    });
    this.#add = button(`Add ${one.toLowerCase()}`, () => this.#append());
    this.#add.classList.add('add');
    const head = make('div', 'rows-head', this.#title, this.#search);
    const words = hint === undefined ? [] : [make('p', 'hint', hint)];
    this.node = make('section', 'rows', head, ...words, this.#items, this.#pager);
    this.node.setAttribute('aria-labelledby', this.#title.id);
    if (!isReadOnly) {
      this.node.append(this.#add);
      this.#items.addEventListener('keydown', (event) => this.#moveByKey(event));
    }
    this.#render();
  }

  /** @param {readonly string[]} path */
  at = ([place, ...rest]) => {
    const index = Number(place);
    if (place === undefined || this.#about.list[index] === undefined) return this;
    this.#reveal(index);
    const inner = this.#shown.get(index)?.at(rest) ?? this;
    const name = this.#nameOf(index);
    return { ...inner, label: inner.label === this.#about.one ? name : `${name}: ${inner.label}` };
  };

  /** @param {string} message */
  showError = (message) => showErrorIn(this.node, message);

  focus = () => this.#add.focus();

  /** @param {number} index */
  #nameOf(index) {
    return `${this.#about.one} ${index + 1}`;
  }

  /** @returns {number[]} indexes of the rows that match the search */
  #matches() {
    const { list, textOf } = this.#about;
    const wanted = this.#search.value.trim().toLowerCase();
    const all = list.map((_, index) => index);
    return wanted === '' ? all : all.filter((index) => textOf(index).toLowerCase().includes(wanted));
  }

  #render() {
    const { list, label } = this.#about;
    const found = this.#matches();
    const page = found.slice(this.#from, this.#from + PAGE);
    this.#shown.clear();
    this.#items.replaceChildren(...page.map((index) => this.#item(index)));
    this.#title.textContent = list.length === 0 ? label : `${label} (${list.length})`;
    this.#search.hidden = list.length < SEARCHABLE;
    this.#pager.hidden = found.length <= PAGE;
    const back = button('Earlier', () => this.#turnTo(this.#from - PAGE));
    back.disabled = this.#from === 0;
    const on = button('Later', () => this.#turnTo(this.#from + PAGE));
    on.disabled = this.#from + PAGE >= found.length;
    const where = `${this.#from + 1}–${this.#from + page.length} of ${found.length}`;
    this.#pager.replaceChildren(back, where, on);
  }

  /** @param {number} index */
  #item(index) {
    const { list, row, isReadOnly } = this.#about;
    const made = row(index);
    this.#shown.set(index, made);
    const name = this.#nameOf(index);
    const tools = make('div', 'tools');
    if (!isReadOnly) {
      const up = button('↑', () => this.#move(index, index - 1), `Move ${name} up`);
      up.disabled = index === 0;
      const down = button('↓', () => this.#move(index, index + 1), `Move ${name} down`);
      down.disabled = index === list.length - 1;
      tools.append(
        up,
        down,
        button('×', () => this.#remove(index), `Remove ${name}`),
      );
    }
    const item = make('li', '', made.node, tools);
    item.dataset.place = String(index);
    item.setAttribute('aria-label', name);
    return item;
  }

  #append() {
    const { list, blank } = this.#about;
    list.push(blank());
    this.#changed(list.length - 1);
  }

  /** @param {KeyboardEvent} event */
  #moveByKey(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const item = event.target instanceof Element ? event.target.closest('li[data-place]') : null;
    if (!event.altKey || step === undefined || !(item instanceof HTMLElement)) return;
    event.preventDefault();
    const index = Number(item.dataset.place);
    this.#move(index, index + step);
  }

  /**
   * @param {number} index
   * @param {number} to
   */
  #move(index, to) {
    const { list } = this.#about;
    if (to < 0 || to >= list.length) return;
    list.splice(to, 0, ...list.splice(index, 1));
    this.#changed(to);
  }

  /** @param {number} index */
  #remove(index) {
    const { list } = this.#about;
    list.splice(index, 1);
    this.#changed(Math.min(index, list.length - 1));
  }

  /** @param {number} index of the row to focus */
  #changed(index) {
    this.#render();
    this.#reveal(index);
    (this.#shown.get(index) ?? this).focus();
    tellChange(this.node);
  }

  /** @param {number} index */
  #reveal(index) {
    if (this.#shown.has(index) || index < 0) return;
    this.#search.value = '';
    this.#turnTo(Math.floor(index / PAGE) * PAGE);
  }

  /** @param {number} from */
  #turnTo(from) {
    this.#from = from;
    this.#render();
  }
}

/**
 * @param {string} text
 * @param {() => void} run
 * @param {string} [name] accessible name
 */
function button(text, run, name) {
  const made = make('button', 'small', text);
  made.type = 'button';
  if (name !== undefined) {
    made.setAttribute('aria-label', name);
    made.title = name;
  }
  made.addEventListener('click', run);
  return made;
}
