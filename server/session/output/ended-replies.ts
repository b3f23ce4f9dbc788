import type { Conversation } from '../history/conversation.ts';
import type { MessageItem } from '../contract/item.ts';
import type { Reply } from './reply.ts';

/** Number of ended replies for which the client may still report what it heard. */
const rememberedReplies = 8;

interface Ended {
  readonly reply: Pick<Reply, 'heard' | 'heardMs' | 'unheardMs'>;
  readonly item: MessageItem;
  /** It was stopped; any other, complete or not, plays on to its end. */
  readonly cancelled: boolean;
  /** The user has spoken since, which stopped its playback. */
  interrupted: boolean;
  /** How much of it our own truncation left. */
  leftMs?: number;
}

/**
 * Corrects replies that have ended: a reply is made faster than it is played, so the client may stop in the middle of
 * one that is complete. The history then ends with what the client reports as heard; its last report counts: reports
 * under way when the user spoke do not truncate what was played until the client knew of it.
 */
export class EndedReplies {
  readonly #conversation: Conversation;
  readonly #ended = new Map<string, Ended>();
  /** True if the client reports what it plays; one that does not truncates items itself. */
  #isTold = false;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** Adds a reply that has ended; `cancelled`: because it was stopped. */
  add(reply: Reply, item: MessageItem, cancelled: boolean): void {
    this.#ended.set(reply.id, { reply, item, cancelled, interrupted: false });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > rememberedReplies && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** Handles a barge-in, which stops everything that is still playing. */
  interrupt(): void {
    for (const [id, ended] of this.#ended) {
      // Nothing more can be learned of replies that were stopped earlier.
      if (ended.interrupted) {
        this.#ended.delete(id);
        continue;
      }
      ended.interrupted = true;
      const { reply } = ended;
      if (this.#isTold && !ended.cancelled && reply.unheardMs > 0) this.#recut(ended, reply.heardMs);
    }
  }

  /** Takes the client's report of how much of a reply it has played. */
  heard(replyId: string, heardMs: number, held: boolean): void {
    this.#isTold = true;
    const ended = this.#ended.get(replyId);
    if (ended === undefined) return;
    ended.reply.heard(heardMs, held);
    // A reply truncated by our own clock is truncated again where the client really stopped.
    if (ended.cancelled) this.#conversation.truncate(ended.item, heardMs);
    else if (ended.interrupted) this.#recut(ended, heardMs);
  }

  /** Truncates a reply to `heardMs`, which may be more than before; unless the client has truncated it itself. */
  #recut(ended: Ended, heardMs: number): void {
    const { item, leftMs } = ended;
    const [part] = item.content;
    if (part?.type !== 'audio' || (leftMs !== undefined && part.durationMs !== leftMs)) return;
    this.#conversation.truncate(item, heardMs);
    ended.leftMs = part.durationMs;
  }
}
