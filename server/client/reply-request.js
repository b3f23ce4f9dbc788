import { UNSOLICITED } from './audio/player.js';

/** @import { ClientEvent, ServerEvent } from './types/api.d.ts' */

/** `event_id` of the `response.create` events sent here. */
const ASKED = 'asked';

/** Requests a reply to a text message as soon as the server has no active response: it handles one at a time. */
export class ReplyRequest {
  #send;
  #isOwed = false;
  /** @type {Set<string>} */
  #active = new Set();

  /** @param {(event: ClientEvent) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** Id of the active response; the latest if there are several. @returns {string | undefined} */
  get activeId() {
    return [...this.#active].at(-1);
  }

  /** @param {string} responseId */
  isActive(responseId) {
    return this.#active.has(responseId);
  }

  ask() {
    this.#isOwed = true;
    this.#askIfFree();
  }

  /** Forgets the session, which is gone. */
  reset() {
    this.#isOwed = false;
    this.#active.clear();
  }

  /**
   * @param {ServerEvent} event
   * @returns {boolean} true for an error that was handled here
   */
  take(event) {
    if (event.type === 'response.created') this.#active.add(event.response.id);
    else if (event.type === 'response.done') {
      this.#active.delete(event.response.id);
      this.#askIfFree();
    } else if (event.type === 'error') {
      const { event_id: ref, code } = event.error;
      if (ref === UNSOLICITED) return true;
      if (ref !== ASKED || code !== 'conversation_already_has_active_response') return false;
      // The request was too early: a different reply started in the meantime. Ask again when it is done.
      this.#isOwed = true;
      return true;
    }
    return false;
  }

  #askIfFree() {
    if (!this.#isOwed || this.#active.size > 0) return;
    this.#isOwed = false;
    this.#send({ type: 'response.create', event_id: ASKED });
  }
}
