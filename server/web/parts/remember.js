/**
 * What this browser remembers: `visits` until it is told otherwise, `tab` until the tab is closed. Storage may be switched
 * off; then nothing is remembered and nothing breaks.
 *
 * @typedef {'visits' | 'tab'} Span
 */

/**
 * @param {Span} span
 * @param {string} name
 * @returns {string} the empty string where nothing is remembered
 */
export function recall(span, name) {
  try {
    return storage(span).getItem(`dramatis.${name}`) ?? '';
  } catch {
    return '';
  }
}

/**
 * @param {Span} span
 * @param {string} name
 * @param {string} value the empty string forgets it
 */
export function remember(span, name, value) {
  try {
    if (value === '') storage(span).removeItem(`dramatis.${name}`);
    else storage(span).setItem(`dramatis.${name}`, value);
  } catch {
    // Private windows may forbid it.
  }
}

/** @param {Span} span */
function storage(span) {
  return span === 'visits' ? localStorage : sessionStorage;
}
