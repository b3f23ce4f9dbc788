import { UNASKED } from './audio/player.js';

/** @import { ClientEvent, ServerEvent } from './types/api.d.ts' */

/** `event_id` of the requests made here. */
const ASKED = 'asked';

/** Asks for the answer to what was written as soon as the server is free: it works on one at a time. */
export class ReplyRequest {
  #send;
  #isOwed = false;
  /** @type {Set<string>} */
  #active = new Set();

  /** @param {(event: ClientEvent) => void} send */
  constructor(send) {
    this.#send = send;
  }

  /** Of the response that the server is at work on, the latest where there are several. @returns {string | undefined} */
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

  /** The session is gone. */
  reset() {
    this.#isOwed = false;
    this.#active.clear();
  }

  /**
   * @param {ServerEvent} event
   * @returns {boolean} whether it was an error that is nobody else's concern
   */
  take(event) {
    if (event.type === 'response.created') this.#active.add(event.response.id);
    else if (event.type === 'response.done') {
      this.#active.delete(event.response.id);
      this.#askIfFree();
    } else if (event.type === 'error') {
      const { event_id: ref, code } = event.error;
      if (ref === UNASKED) return true;
      if (ref !== ASKED || code !== 'conversation_already_has_active_response') return false;
      // Asked a moment too early: a reply to something else began on its way here. Ask again when it is over.
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
