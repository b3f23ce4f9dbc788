/**
 * The event fields that the link itself reads.
 *
 * @typedef {object} WireEvent
 * @property {string} type
 * @property {number} [x_seq]
 * @property {number} [x_ack]
 * @property {number} [x_kept]
 * @property {number | null} [received]
 * @property {boolean} [restarted]
 * @property {import('../types/api.d.ts').Session} [session]
 * @property {import('../types/api.d.ts').ServerError} [error]
 */

/**
 * @param {string} data a text frame
 * @returns {WireEvent | undefined} undefined if it is not an event
 */
export function parseEvent(data) {
  /** @type {unknown} */
  const event = JSON.parse(data);
  const isEvent = typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string';
  return isEvent ? /** @type {WireEvent} */ (event) : undefined;
}
