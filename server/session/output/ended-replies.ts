import type { Conversation, MessageItem } from '../history/conversation.ts';
import type { Reply } from './reply.ts';

/** Replies whose end is so recent that the client may still tell what it heard of them. */
const rememberedReplies = 8;

interface Ended {
  readonly reply: Pick<Reply, 'heard' | 'heardMs' | 'unheardMs'>;
  readonly item: MessageItem;
  /** It was stopped; any other, complete or not, plays on to its end. */
  readonly cancelled: boolean;
  /** The user has spoken since, and that stopped it. */
  interrupted: boolean;
  /** How much we left of it, where we cut it. */
  leftMs?: number;
}

/**
 * What is still to be learned of replies that have ended: a reply is made faster than it is played, so the client may stop
 * in the middle of one that is complete. History then ends with what the client says was heard, whose last word counts:
 * reports that were on their way when the user spoke do not cut short what was played until the client knew of it.
 */
export class EndedReplies {
  readonly #conversation: Conversation;
  readonly #ended = new Map<string, Ended>();
  /** The client tells what it plays; one that does not truncates by itself. */
  #isTold = false;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** A reply has ended, having said this; `cancelled`: because it was stopped. */
  add(reply: Reply, item: MessageItem, cancelled: boolean): void {
    this.#ended.set(reply.id, { reply, item, cancelled, interrupted: false });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > rememberedReplies && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** The user speaks, and that stops whatever is still played. */
  interrupt(): void {
    for (const [id, ended] of this.#ended) {
      // There is nothing more to learn of those that were stopped earlier.
      if (ended.interrupted) {
        this.#ended.delete(id);
        continue;
      }
      ended.interrupted = true;
      const { reply } = ended;
      if (this.#isTold && !ended.cancelled && reply.unheardMs > 0) this.#recut(ended, reply.heardMs);
    }
  }

  /** The client tells how much of a reply it has played. */
  heard(replyId: string, heardMs: number, held: boolean): void {
    this.#isTold = true;
    const ended = this.#ended.get(replyId);
    if (ended === undefined) return;
    ended.reply.heard(heardMs, held);
    // What was cut short by our own clock is cut where the client really stopped.
    if (ended.cancelled) this.#conversation.truncate(ended.item, heardMs);
    else if (ended.interrupted) this.#recut(ended, heardMs);
  }

  /** Leaves so much of a reply, be it more than before; unless the client has truncated it itself. */
  #recut(ended: Ended, heardMs: number): void {
    const { item, leftMs } = ended;
    const [part] = item.content;
    if (part?.type !== 'audio' || (leftMs !== undefined && part.durationMs !== leftMs)) return;
    this.#conversation.truncate(item, heardMs);
    ended.leftMs = part.durationMs;
  }
}
