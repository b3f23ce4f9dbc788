import { EngineError } from '../../voices/engine.ts';
import type { Situation } from '../../agents/agent.ts';
import type { CallItem, MessageItem } from './conversation.ts';
import type { Problem, ReplyReason, ReplyRequest, ReplyStatus } from './events.ts';
import { Reply, type ReplyStep } from './reply.ts';
import type { SessionContext } from './context.ts';
import { messagesOf } from './history.ts';
import { Trace } from './trace.ts';

/** Replies whose end is so recent that the client may still tell what it heard of them. */
const rememberedReplies = 8;

/** The character's side: runs replies, lets at most one of them write the conversation, ends each exactly once. */
export class Speaking {
  readonly #context: SessionContext;
  readonly #running = new Set<Reply>();
  readonly #waiting = new Map<Reply, () => void>();
  #current: Reply | undefined;
  /** Items of the last replies that have ended, for late words on what was heard. */
  readonly #ended = new Map<string, MessageItem>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** The reply that is writing the conversation, if any. */
  get current(): Reply | undefined {
    return this.#current;
  }

  /** Begins a reply. With `hold`, it is announced at once but made only after `release`. */
  start(
    request: ReplyRequest,
    trace: Trace,
    options: { readonly hold: boolean; readonly unclear: () => boolean },
  ): Reply {
    const { settings, clock, aheadMs, newId, emit } = this.#context;
    const speaks = request.speaks ?? settings().speaks;
    trace.mark('asked');
    const reply = new Reply(newId('resp'), request, speaks, trace, { clock, aheadMs });
    if (request.inConversation) this.#current = reply;
    this.#running.add(reply);
    const { inConversation, metadata } = request;
    const maxTokens = request.maxTokens ?? settings().maxTokens ?? Infinity;
    emit({ type: 'reply-started', replyId: reply.id, speaks, inConversation, maxTokens, metadata: metadata ?? null });
    const begin = (): void => void this.#run(reply, request.situation ?? (options.unclear() ? 'unclear' : undefined));
    if (options.hold) this.#waiting.set(reply, begin);
    else begin();
    return reply;
  }

  /** Makes the replies that waited for a transcript. */
  release(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [reply, begin] of waiting) {
      reply.trace.mark('transcript');
      begin();
    }
  }

  /** Stops one reply, by default the current one. Returns false when there is none to stop. */
  cancel(reason: ReplyReason, id?: string): boolean {
    const reply = id === undefined ? this.#current : [...this.#running].find((running) => running.id === id);
    if (reply === undefined) return false;
    this.#cut(reply);
    reply.abort(reason);
    this.finish(reply);
    return true;
  }

  /** The client tells how much of a reply it has played, while it runs or a little after. */
  heard(replyId: string, heardMs: number): void {
    const reply = [...this.#running].find((running) => running.id === replyId);
    if (reply !== undefined) return reply.heard(heardMs);
    const item = this.#ended.get(replyId);
    // What was cut short by our own clock is cut where the client really stopped; a finished reply plays on.
    if (item?.status === 'incomplete') this.#context.conversation.truncate(item, heardMs);
  }

  /** The client stopped playing an item at `heardMs`. Where that is still being spoken, what follows is not said. */
  stopAt(itemId: string, heardMs: number): void {
    if (this.#current?.item?.id !== itemId) return;
    this.#current.heard(heardMs);
    this.cancel('client_cancelled');
  }

  /** Stops everything that is being said. */
  close(): void {
    for (const reply of this.#running) this.cancel('hung_up', reply.id);
  }

  /** Takes a step of a running reply; steps of one that has ended are dropped. */
  advance(reply: Reply, step: ReplyStep): void {
    if (!this.#running.has(reply)) return;
    if (step.type === 'tool-call') return this.#call(reply, step);
    if (step.type === 'slice' || step.type === 'text') this.#openItem(reply, step);
    reply.note(step);
    const { emit } = this.#context;
    if (step.type === 'text') emit({ type: 'reply-text', replyId: reply.id, text: step.text, words: [] });
    if (step.type !== 'slice') return;
    const { samples, sampleRate, text, words } = step.slice;
    if (text !== '') emit({ type: 'reply-text', replyId: reply.id, text, words });
    emit({ type: 'reply-audio', replyId: reply.id, samples, sampleRate });
  }

  /** Ends a reply, once: by itself, by `failure`, or because it was cancelled. */
  finish(reply: Reply, failure?: unknown): void {
    if (!this.#running.delete(reply)) return;
    this.#waiting.delete(reply);
    const problem = failure === undefined ? undefined : problemOf(failure);
    const end = reply.end(problem);
    this.#closeItem(reply, end.status);
    if (reply.item !== undefined) this.#remember(reply.id, reply.item);
    const { item, calls } = reply;
    this.#context.emit({ type: 'reply-ended', replyId: reply.id, end, calls, ...(item === undefined ? {} : { item }) });
    if (this.#current !== reply) return;
    this.#current = undefined;
    this.#context.replyEnded(reply);
  }

  #remember(replyId: string, item: MessageItem): void {
    this.#ended.set(replyId, item);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > rememberedReplies && oldest !== undefined) this.#ended.delete(oldest);
  }

  async #run(reply: Reply, situation: Situation | undefined): Promise<void> {
    const { responder, conversation, settings, post } = this.#context;
    try {
      const history = messagesOf(reply.request.items ?? conversation.items);
      for await (const step of reply.run(responder, history, settings(), situation))
        post({ type: 'reply-step', reply, step });
      post({ type: 'reply-finish', reply });
    } catch (failure) {
      post({ type: 'reply-finish', reply, failure });
    }
  }

  #openItem(reply: Reply, step: Extract<ReplyStep, { type: 'slice' | 'text' }>): void {
    if (reply.item !== undefined) return;
    const { conversation, newId, emit } = this.#context;
    reply.trace.mark('first_audio');
    const content: MessageItem['content'][number] =
      step.type === 'text'
        ? { type: 'text', text: '' }
        : { type: 'audio', transcript: '', durationMs: 0, audio: [], sampleRate: step.slice.sampleRate, words: [] };
    reply.item = { id: newId('item'), type: 'message', role: 'assistant', status: 'in_progress', content: [content] };
    const { inConversation } = reply.request;
    const previousItemId = inConversation ? conversation.insert(reply.item) : null;
    emit({ type: 'reply-item', replyId: reply.id, item: reply.item, inConversation, previousItemId });
  }

  /** What was being said is complete, or will not be. */
  #closeItem(reply: Reply, status: ReplyStatus): void {
    const { item } = reply;
    if (item?.status !== 'in_progress') return;
    item.status = status === 'completed' ? 'completed' : 'incomplete';
    this.#context.emit({ type: 'reply-item-ended', replyId: reply.id, item, cut: status === 'cancelled' });
  }

  #call(reply: Reply, { callId, name, arguments: text }: Extract<ReplyStep, { type: 'tool-call' }>): void {
    this.#closeItem(reply, 'completed');
    const { conversation, newId, emit } = this.#context;
    const id = newId('item');
    // Some chat servers count calls anew in every reply.
    const isTaken = conversation.items.some((item) => item.type === 'call' && item.callId === callId);
    const ownId = isTaken ? `call_${id}` : callId;
    const item: CallItem = { id, type: 'call', status: 'completed', callId: ownId, name, arguments: text };
    reply.calls.push(item);
    const { inConversation } = reply.request;
    const previousItemId = inConversation ? conversation.insert(item) : null;
    emit({ type: 'reply-call', replyId: reply.id, item, inConversation, previousItemId });
  }

  /** History keeps what can have been heard, until the client tells it more exactly by truncating. */
  #cut(reply: Reply): void {
    if (reply.item !== undefined) this.#context.conversation.truncate(reply.item, reply.heardMs);
  }
}

function problemOf(failure: unknown): Problem {
  if (failure instanceof EngineError) return { code: failure.code, message: failure.message };
  return { code: 'internal_error', message: 'The reply could not be made.' };
}
