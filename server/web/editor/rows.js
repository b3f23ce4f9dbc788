import { make } from '../dom.js';
import { complainIn, newId, tellChange } from './field.js';

/** @typedef {import('./field.js').Field} Field */

/** Shown at a time: books of lore have thousands. */
const PAGE = 25;
/** From so many on there is something to search in. */
const SEARCHABLE = 8;

/**
 * Rows of a list in the card, to add, take out and move: with buttons, or with Alt and the arrow keys. The list is changed in place.
 *
 * @param {object} about
 * @param {unknown[]} about.list
 * @param {string} about.label of all of them
 * @param {string} about.one of one of them, such as "Entry"
 * @param {string} [about.hint]
 * @param {boolean} about.isReadOnly
 * @param {() => unknown} about.blank a new one
 * @param {(index: number) => Field} about.row
 * @param {(index: number) => string} about.textOf what a search looks at
 * @returns {Field}
 */
export function rows({ list, label, one, hint, isReadOnly, blank, row, textOf }) {
  const title = make('h4', '', label);
  title.id = newId();
  const items = make('ol', 'items');
  const pager = make('p', 'pager');
  const search = make('input', 'search');
  Object.assign(search, { type: 'search', placeholder: 'Search…', ariaLabel: `Search in ${label}` });
  const add = button(`Add ${one.toLowerCase()}`, () => {
    search.value = '';
    list.push(blank());
    changed(list.length - 1);
  });
  add.classList.add('add');
  const head = make('div', 'rows-head', title, search);
  const node = make('section', 'rows', head, ...(hint === undefined ? [] : [make('p', 'hint', hint)]), items, pager);
  node.setAttribute('aria-labelledby', title.id);
  if (!isReadOnly) node.append(add);
  /** @type {Map<number, Field>} by place in the list */
  const shown = new Map();
  let from = 0;
  // What is typed to find something changes nothing.
  search.addEventListener('input', (event) => {
    event.stopPropagation();
    from = 0;
    render();
  });
  node.addEventListener('keydown', (event) => {
    const place = placeOf(event.target);
    if (!event.altKey || isReadOnly || place === undefined) return;
    if (event.key === 'ArrowUp') move(place, place - 1);
    else if (event.key === 'ArrowDown') move(place, place + 1);
    else return;
    event.preventDefault();
  });
  render();

  /** @type {Field} */
  const field = {
    node,
    label,
    at([place, ...rest]) {
      const index = Number(place);
      if (place === undefined || list[index] === undefined) return field;
      reveal(index);
      const inner = shown.get(index)?.at(rest) ?? field;
      const name = `${one} ${index + 1}`;
      return { ...inner, label: inner.label === one ? name : `${name}: ${inner.label}` };
    },
    complain: (message) => complainIn(node, message),
    focus: () => add.focus(),
  };
  return field;

  /** @returns {number[]} places that the search finds */
  function matches() {
    const wanted = search.value.trim().toLowerCase();
    const all = list.map((_, index) => index);
    return wanted === '' ? all : all.filter((index) => textOf(index).toLowerCase().includes(wanted));
  }

  function render() {
    const found = matches();
    const page = found.slice(from, from + PAGE);
    shown.clear();
    items.replaceChildren(...page.map(item));
    title.textContent = list.length === 0 ? label : `${label} (${list.length})`;
    search.hidden = list.length < SEARCHABLE;
    pager.replaceChildren();
    pager.hidden = found.length <= PAGE;
    if (pager.hidden) return;
    const turn = (/** @type {number} */ to) => () => {
      from = to;
      render();
      node.scrollIntoView({ block: 'start' });
    };
    const back = button('Earlier', turn(from - PAGE));
    back.disabled = from === 0;
    const on = button('Later', turn(from + PAGE));
    on.disabled = from + PAGE >= found.length;
    pager.append(back, ` ${from + 1}–${from + page.length} of ${found.length} `, on);
  }

  /** @param {number} index */
  function item(index) {
    const made = row(index);
    shown.set(index, made);
    const name = `${one} ${index + 1}`;
    const tools = make('div', 'tools');
    if (!isReadOnly) {
      const up = button('↑', () => move(index, index - 1), `Move ${name} up`);
      up.disabled = index === 0;
      const down = button('↓', () => move(index, index + 1), `Move ${name} down`);
      down.disabled = index === list.length - 1;
      const out = button('×', () => remove(index), `Remove ${name}`);
      tools.append(up, down, out);
    }
    const node = make('li', '', made.node, tools);
    node.dataset.place = String(index);
    node.setAttribute('aria-label', name);
    return node;
  }

  /** @param {EventTarget | null} target */
  function placeOf(target) {
    const item = target instanceof Element ? target.closest('li[data-place]') : null;
    return item?.parentElement === items && item instanceof HTMLElement ? Number(item.dataset.place) : undefined;
  }

  /**
   * @param {number} index
   * @param {number} to
   */
  function move(index, to) {
    if (to < 0 || to >= list.length) return;
    list.splice(to, 0, ...list.splice(index, 1));
    changed(to);
  }

  /** @param {number} index */
  function remove(index) {
    list.splice(index, 1);
    changed(Math.min(index, list.length - 1));
  }

  /** @param {number} index to go on with */
  function changed(index) {
    render();
    reveal(index);
    (shown.get(index) ?? field).focus();
    tellChange(node);
  }

  /** @param {number} index */
  function reveal(index) {
    if (shown.has(index) || index < 0) return;
    search.value = '';
    from = Math.floor(index / PAGE) * PAGE;
    render();
  }
}

/**
 * @param {string} text
 * @param {() => void} run
 * @param {string} [name] for those who do not see it
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
