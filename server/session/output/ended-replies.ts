import type { GoesOn, RepeatedRequest, ReplyRequest, SpokenPhrase } from '../contract/events.ts';
import type { Conversation } from '../history/conversation.ts';
import type { MessageItem } from '../contract/item.ts';
import type { KeptSound } from '../contract/responder.ts';
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
  /** Part of it that our own truncation left. */
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

/** Returns what is needed to make a reply again, if that is possible. */
export function repeatedRequest(request: ReplyRequest, speaks: boolean): { readonly again?: RepeatedRequest } {
  const { items, toolbox, scene, maxTokens, sampling, situation, goesOn } = request;
  if (items !== undefined || toolbox !== undefined) return {};
  const settings = {
    ...(sampling && { sampling }),
    ...(scene === undefined ? {} : { scene }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  const before = goesOn && { itemIds: [...goesOn.itemIds], heard: goesOn.heard };
  return {
    again: {
      speaks,
      ...settings,
      ...(situation === undefined ? {} : { situation }),
      ...(before === undefined ? {} : { goesOn: before }),
    },
  };
}

/** The phrase that a reply was saying when it was cut, and how much of the reply the client has: it plays all of that. */
export interface CutPhrase {
  readonly phrase: SpokenPhrase;
  readonly receivedMs: number;
  /** Set if the reply ends with the phrase. */
  readonly isLast?: true;
  readonly sound?: KeptSound | undefined;
}

/** Returns the request that makes a reply again; the part in `item` was said and is not said again. */
export function requestAgain(
  again: RepeatedRequest | undefined,
  item: MessageItem | undefined,
  cut?: CutPhrase,
): ReplyRequest | undefined {
  if (again === undefined) return undefined;
  const { goesOn: earlier = { itemIds: [], heard: '' }, ...request } = again;
  const itemIds = [...earlier.itemIds, ...(item === undefined ? [] : [item.id])];
  if (itemIds.length === 0) return { ...request, inConversation: true };
  return {
    ...request,
    inConversation: true,
    goesOn: { itemIds, ...(restOf(cut) ?? { heard: heardOf(earlier, item) }) },
  };
}

function restOf(cut: CutPhrase | undefined): Pick<GoesOn, 'heard' | 'rest'> | undefined {
  if (cut === undefined) return undefined;
  const { fromMs, ...phrase } = cut.phrase;
  const saidMs = Math.max(0, cut.receivedMs - fromMs);
  return {
    heard: phrase.before + phrase.text,
    rest: { ...phrase, saidMs, sound: cut.sound, ...(cut.isLast === true ? { isLast: true } : {}) },
  };
}

function heardOf(earlier: Pick<GoesOn, 'heard'>, item: MessageItem | undefined): string {
  const part = item?.content[0];
  const said = part?.type === 'text' ? part.text : part?.type === 'audio' ? (part.transcript ?? '') : '';
  return earlier.heard === '' || said === '' ? earlier.heard + said : `${earlier.heard} ${said}`;
}
