/** From so many on there is something to search in. */
const SEARCHABLE = 12;

/**
 * A search among the cast: hides those whose words do not hold what is typed. Not there while the cast is small.
 *
 * @param {HTMLInputElement} input
 * @param {HTMLElement} list
 * @returns {() => void} call it when the list has changed
 */
export function openCastSearch(input, list) {
  const refresh = () => {
    const wanted = input.value.trim().toLowerCase();
    const items = /** @type {HTMLElement[]} */ ([...list.children]);
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    input.hidden = items.length < SEARCHABLE;
  };
  input.addEventListener('input', refresh);
  return refresh;
}
