/**
 * Lifetime of a stored value: `visits` is kept until removed, `tab` until the tab is closed. If
 * storage is disabled, nothing is stored and nothing breaks.
 *
 * @typedef {'visits' | 'tab'} Span
 */

/**
 * @param {Span} span
 * @param {string} name
 * @returns {string} the empty string if nothing is stored
 */
export function readStored(span, name) {
  try {
    return storage(span).getItem(`dramatis.${name}`) ?? '';
  } catch {
    return '';
  }
}

/**
 * @param {Span} span
 * @param {string} name
 * @param {string} value the empty string removes it
 */
export function writeStored(span, name, value) {
  try {
    if (value === '') storage(span).removeItem(`dramatis.${name}`);
    else storage(span).setItem(`dramatis.${name}`, value);
  } catch {
    // Storage may be forbidden in private windows.
  }
}

/** @param {Span} span */
function storage(span) {
  return span === 'visits' ? localStorage : sessionStorage;
}
