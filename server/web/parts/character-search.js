/** Minimum list length for the search field to appear. */
const SEARCHABLE = 12;

/**
 * Sets up the search of the character list: hides entries that do not contain the typed text.
 * Hidden while the list is short.
 *
 * @param {HTMLInputElement} input
 * @param {HTMLElement} list
 * @returns {() => void} to be called when the list has changed
 */
export function openCharacterSearch(input, list) {
  const refresh = () => {
    const wanted = input.value.trim().toLowerCase();
    const items = /** @type {HTMLElement[]} */ ([...list.children]);
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    input.hidden = items.length < SEARCHABLE;
  };
  input.addEventListener('input', refresh);
  return refresh;
}
