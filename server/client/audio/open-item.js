/**
 * A reply item that has not been played to its end.
 *
 * @typedef {object} OpenItem
 * @property {string} itemId
 * @property {string} responseId
 * @property {number} receivedMs milliseconds of audio received
 * @property {number} baseMs part of it received before the last hold; will not be played
 * @property {number | undefined} heldMs playback position at the last hold
 * @property {number} sentLateMs how far the server fell behind real time while generating it
 * @property {number | undefined} firstSentMs server clock at the start of the item
 */

/**
 * Returns how many milliseconds of an item have been heard.
 *
 * @param {OpenItem} item
 * @param {number} [playedMs] since the last hold, if any
 */
export function heardOf({ receivedMs, baseMs, heldMs }, playedMs = 0) {
  return Math.floor(Math.min(playedMs > 0 ? baseMs + playedMs : (heldMs ?? baseMs), receivedMs));
}

/**
 * Returns true if an item is on hold and has received no audio since.
 *
 * @param {OpenItem} item
 */
export function isSilenced({ receivedMs, baseMs, heldMs }) {
  return heldMs !== undefined && receivedMs === baseMs;
}

/**
 * Puts an item on hold: audio that was received but not played is discarded, and playback of later
 * audio is counted from here.
 *
 * @param {OpenItem} item
 * @returns {{ item: OpenItem, settle: (playedMs: number) => number } | undefined} `settle` takes
 *   the milliseconds played since the previous hold and returns the total heard; undefined if there
 *   is nothing to hold
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
