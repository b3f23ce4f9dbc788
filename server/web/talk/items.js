/** @import { Talk } from '../../client/types/api.d.ts' */
/** @import { Item } from '../../client/types/events.d.ts' */
/** @import { Entry, Transcript } from './transcript.js' */

/** Latest utterances to send to the new session after one was lost. */
const RETOLD = 40;

/** The server's items of the utterances in the transcript. */
export class Items {
  #wire;
  #transcript;

  /**
   * @param {Pick<Talk, 'send'>} wire
   * @param {Transcript} transcript
   */
  constructor(wire, transcript) {
    this.#wire = wire;
    this.#transcript = transcript;
  }

  /** Sends the history to a new session. */
  sendHistory() {
    for (const { role, text, itemId: id } of this.#transcript.utterances().slice(-RETOLD)) {
      const isUser = role === 'user';
      const content = [{ type: isUser ? 'input_text' : 'output_text', text }];
      const named = id === undefined ? {} : { id };
      const item = { type: 'message', role: isUser ? 'user' : 'assistant', content, ...named };
      this.#wire.send({ type: 'conversation.item.create', item });
    }
  }

  /**
   * Notes the item of a typed message.
   *
   * @param {Item} item from `conversation.item.added`
   */
  learn({ id, role, content }) {
    if (role !== 'user' || content?.[0]?.type !== 'input_text' || this.#transcript.find(id) !== undefined) return;
    const [typed] = this.#transcript.unnamed('user');
    if (typed !== undefined) typed.itemId = id;
  }

  /**
   * Takes utterances back, here and on the server.
   *
   * @param {readonly Entry[]} entries
   */
  withdraw(entries) {
    for (const entry of entries) {
      if (entry.itemId !== undefined) this.#wire.send({ type: 'conversation.item.delete', item_id: entry.itemId });
      entry.remove();
    }
  }
}
