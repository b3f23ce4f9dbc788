/**
 * Calls back when the network is available again, on platforms that report it (browsers do).
 *
 * @param {() => void} callback
 * @returns {() => void} removes the listener
 */
export function whenOnline(callback) {
  if (typeof globalThis.addEventListener !== 'function') return () => {};
  globalThis.addEventListener('online', callback);
  return () => globalThis.removeEventListener('online', callback);
}
