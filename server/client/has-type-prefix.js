/** @import { TalkEvent } from './types/api.d.ts' */

/**
 * Type guard for a family of events, such as `response.` or `connection.`.
 *
 * @template {string} Prefix
 * @param {TalkEvent} event
 * @param {Prefix} prefix
 * @returns {event is Extract<TalkEvent, { type: `${Prefix}${string}` }>}
 */
export function hasTypePrefix(event, prefix) {
  return event.type.startsWith(prefix);
}
