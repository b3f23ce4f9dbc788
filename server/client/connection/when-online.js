/**
 * Calls back when the network is there again after it was away, where the platform tells (browsers do).
 *
 * @param {() => void} callback
 * @returns {() => void} ends it
 */
export function whenOnline(callback) {
  if (typeof globalThis.addEventListener !== 'function') return () => {};
  globalThis.addEventListener('online', callback);
  return () => globalThis.removeEventListener('online', callback);
}
