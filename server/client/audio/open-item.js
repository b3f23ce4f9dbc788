/**
 * An item of a reply that has not been played to its end.
 *
 * @typedef {object} OpenItem
 * @property {string} itemId
 * @property {string} responseId
 * @property {number} receivedMs of sound
 * @property {number} baseMs of that, received before it was held last; it will not be played
 * @property {number | undefined} heldMs what had been played when it was held last
 * @property {number} sentLateMs how far the server fell behind real time in making it
 * @property {number | undefined} firstSentMs the server's clock when the item began
 */

/**
 * How much of an item has been heard.
 *
 * @param {OpenItem} item
 * @param {number} [playedMs] since it was held last, if it was
 */
export function heardOf({ receivedMs, baseMs, heldMs }, playedMs = 0) {
  return Math.floor(Math.min(playedMs > 0 ? baseMs + playedMs : (heldMs ?? baseMs), receivedMs));
}

/**
 * Whether an item is held, and nothing of it has come since.
 *
 * @param {OpenItem} item
 */
export function isSilenced({ receivedMs, baseMs, heldMs }) {
  return heldMs !== undefined && receivedMs === baseMs;
}

/**
 * Holds an item: what it has received and not played is thrown away, and what comes from now on is counted after it.
 *
 * @param {OpenItem} item
 * @returns {{ item: OpenItem, settle: (playedMs: number) => number } | undefined} `settle` takes how much had been played
 *   since it was held before, and returns how much has been heard; undefined where there is nothing to hold
 */
export function holdItem(item) {
  const before = { ...item };
  if (item.receivedMs === item.baseMs) return undefined;
  item.heldMs = item.heldMs ?? item.baseMs;
  item.baseMs = item.receivedMs;
  return {
    item,
    settle(playedMs) {
      item.heldMs = heardOf(before, playedMs);
      return item.heldMs;
    },
  };
}
