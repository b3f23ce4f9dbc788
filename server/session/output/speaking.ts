import { EngineError } from '../../../voices/engine.ts';
import type { Situation } from '../../../agents/agent.ts';
import type { Message } from '../../../agents/chat.ts';
import type { CallItem, MessageItem, Sounded, PlacedCue } from '../contract/item.ts';
import type { Problem, ReplyReason, ReplyRequest, ReplyStatus, SessionCommand } from '../contract/events.ts';
import { EndedReplies, repeatedRequest } from './ended-replies.ts';
import { SpeculativeReplies } from './speculative-replies.ts';
import { Reply, type ReplyStep } from './reply.ts';
import type { SessionContext } from '../history/context.ts';
import { messagesOf } from '../history/conversation.ts';
import type { TurnTimings } from '../contract/turn-timings.ts';

/** Grace time after the end of a reply in which its echo may still arrive. */
const lateEchoMs = 800;

/** Most replies out of band at once: each takes a place in the queues of the engines, which all sessions share. */
const maxBesides = 4;

const tooManyBesides: Problem = {
  code: 'too_many_responses',
  message: `This session is making ${maxBesides} responses out of band. Wait for one to end, or cancel it.`,
};

/** Progress of a reply, posted to the session's queue. */
export type SpeakingInput =
  | { readonly type: 'reply-step'; readonly reply: Reply; readonly step: ReplyStep }
  | { readonly type: 'reply-finish'; readonly reply: Reply; readonly failure?: unknown };

/** The character's side: runs replies, lets at most one of them write the conversation, ends each exactly once. */
export class Speaking {
  readonly #context: SessionContext<SpeakingInput>;
  readonly #onReplyEnd: (reply: Reply) => void;
  readonly #running = new Set<Reply>();
  readonly #waiting = new Map<Reply, () => void>();
  #current: Reply | undefined;
  readonly #drafts: SpeculativeReplies;
  /** The reply that spoke last, and when all of it had been heard. */
  #last: { readonly reply: Reply; readonly heardByMs: number } | undefined;
  readonly ended: EndedReplies;

  /** `onReplyEnd` is called when a reply that wrote the conversation has ended. */
  constructor(context: SessionContext<SpeakingInput>, onReplyEnd: (reply: Reply) => void) {
    this.#context = context;
    this.#onReplyEnd = onReplyEnd;
    this.#drafts = new SpeculativeReplies(context, (reply, history) => void this.#run(reply, undefined, history));
    this.ended = new EndedReplies(context.conversation);
  }

  /** The reply that is writing the conversation, if any. */
  get current(): Reply | undefined {
    return this.#current;
  }

  /** The reply that can be heard, or could be a moment ago; undefined if the character is silent. */
  get played(): Reply | undefined {
    if (this.#current?.item !== undefined) return this.#current;
    const isLate = this.#last !== undefined && this.#context.clock.now() < this.#last.heardByMs + lateEchoMs;
    return isLate ? this.#last?.reply : undefined;
  }

  /** Returns a function that returns what the character is saying, or just said; undefined if it is silent. */
  sounding(): (() => Sounded) | undefined {
    const reply = this.played;
    const part = reply?.item?.content[0];
    if (reply === undefined || part?.type !== 'audio') return undefined;
    const fromMs = reply.heardMs;
    return () => ({ words: part.words, fromMs, toMs: reply.heardMs, spoken: part });
  }

  /** The problem of one more reply out of band, if there are too many already. */
  get fullProblem(): Problem | undefined {
    const besides = [...this.#running].filter(({ request }) => !request.inConversation).length;
    return besides < maxBesides ? undefined : tooManyBesides;
  }

  /** True if the character can be heard right now. */
  get sounds(): boolean {
    return (this.#current ?? this.#last?.reply)?.sounds === true;
  }

  /** Pauses the current reply; the client may fall silent at once. */
  hold(): void {
    const reply = this.#current;
    if (reply === undefined) return;
    reply.hold(this.#context.stopsAtOnce());
    this.#context.emit({ type: 'reply-held', replyId: reply.id });
  }

  resume(): void {
    const reply = this.#current;
    if (reply === undefined) return;
    this.#context.emit({ type: 'reply-resumed', replyId: reply.id, laterMs: reply.resume() });
  }

  /** Begins a speculative reply to what the user has said so far. */
  draft(text: string): void {
    if (this.#current === undefined) this.#drafts.make(text);
  }

  /** Discards the speculative reply. */
  dropDraft(): void {
    this.#drafts.drop();
  }

  /**
   * Begins a reply. With `hold`, it is announced at once but made only after `release`. `answers`: the user utterance
   * that it answers; a speculative reply to exactly these words is used.
   */
  start(
    request: ReplyRequest,
    trace: TurnTimings,
    options: { readonly hold: boolean; readonly unclear: () => boolean; readonly answers?: string },
  ): Reply {
    const { settings, emit } = this.#context;
    trace.mark('asked');
    const draft = this.#drafts.take(options.answers);
    const reply = draft?.reply ?? new Reply(this.#context, request, trace);
    draft?.reply.trace.follow(trace);
    if (request.inConversation) reply.speculation = this.#drafts.account(draft !== undefined);
    if (request.inConversation) this.#current = reply;
    this.#running.add(reply);
    const { inConversation, echo, maxTokens = settings().maxTokens ?? Infinity } = request;
    const again = repeatedRequest(request, reply.speaks);
    emit({ type: 'reply-started', replyId: reply.id, speaks: reply.speaks, inConversation, maxTokens, echo, ...again });
    const begin = (): void => void this.#run(reply, request.situation ?? (options.unclear() ? 'unclear' : undefined));
    if (draft !== undefined) draft.confirm();
    else if (options.hold) this.#waiting.set(reply, begin);
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

  /** Stops one reply, by default the current one, at `heardMs` if that is known. Returns false if there is none. */
  cancel(reason: ReplyReason, id?: string, heardMs?: number): boolean {
    const reply = id === undefined ? this.#current : [...this.#running].find((running) => running.id === id);
    if (reply === undefined) return false;
    this.#cut(reply, heardMs);
    reply.abort(reason);
    this.finish(reply);
    return true;
  }

  /**
   * Stops the current reply for the user. `unbegun`: it cut into what the user goes on to say, so none of it stays in the
   * history; unless it called a tool, or answers no speech.
   */
  interrupt(unbegun: boolean): void {
    const { conversation, emit } = this.#context;
    const { item, calls } = this.#current ?? { calls: [] };
    const isCutIn = unbegun && item !== undefined && calls.length === 0 && conversation.answersSpeech(item.id);
    if (isCutIn) conversation.truncate(item, 0, 0, true);
    this.cancel('turn_detected', undefined, ...(isCutIn ? [0] : []));
    if (isCutIn) emit({ type: 'item-truncated', itemId: item.id, contentIndex: 0, heardMs: 0 });
  }

  /** Takes the client's report of how much of a reply it has played, during the reply or shortly after. */
  heard({ replyId, heardMs, held = false }: Extract<SessionCommand, { type: 'heard' }>): void {
    [...this.#running].find((running) => running.id === replyId)?.heard(heardMs, held);
    this.ended.heard(replyId, heardMs, held);
  }

  /** Handles the client having stopped an item at `heardMs`: if the item is still being spoken, cancels the rest. */
  stopAt(itemId: string, heardMs: number): void {
    if (this.#current?.item?.id !== itemId) return;
    this.#current.heard(heardMs);
    this.cancel('client_cancelled', undefined, heardMs);
  }

  close(): void {
    this.#drafts.drop();
    for (const reply of this.#running) this.cancel('hung_up', reply.id);
  }

  /** Takes a step of a running reply; steps of one that has ended are dropped. */
  advance(reply: Reply, step: ReplyStep): void {
    if (!this.#running.has(reply)) return;
    if (step.type === 'tool-call') return this.#call(reply, step);
    if (step.type === 'section' && reply.request.inConversation)
      this.#context.participants.story?.take(step.from, step.on);
    if (step.type === 'slice' || step.type === 'text') this.#openItem(reply, step);
    reply.note(step);
    if (step.type !== 'text' && step.type !== 'slice') return;
    const { emit } = this.#context;
    const { emotion, intensity } = step;
    if (step.type === 'text') {
      this.#tellCues(reply, reply.cues.writing(step.text));
      return emit({ type: 'reply-text', replyId: reply.id, text: step.text, words: [], emotion, intensity });
    }
    const { text, words, block: _, ...sound } = step.slice;
    this.#tellCues(reply, reply.cues.saying(words));
    if (text !== '') emit({ type: 'reply-text', replyId: reply.id, text, words, emotion, intensity });
    emit({ type: 'reply-audio', replyId: reply.id, ...sound });
  }

  /** Ends a reply, once: by itself, by `failure`, or because it was cancelled. */
  finish(reply: Reply, failure?: unknown): void {
    if (this.#drafts.is(reply)) return this.#drafts.drop();
    if (!this.#running.delete(reply)) return;
    this.#waiting.delete(reply);
    const problem = failure === undefined ? undefined : problemOf(failure);
    if (problem === undefined && !reply.aborted) this.#tellCues(reply, reply.cues.rest(reply.spokenMs), reply.spokenMs);
    const end = reply.end(this.#context.participants.moods, problem);
    this.#closeItem(reply, end.status);
    if (reply.item !== undefined) this.ended.add(reply, reply.item, end.status === 'cancelled');
    const { item, calls } = reply;
    this.#context.emit({ type: 'reply-ended', replyId: reply.id, end, calls, ...(item === undefined ? {} : { item }) });
    if (this.#current !== reply) return;
    this.#last?.reply.forget();
    this.#last = { reply, heardByMs: this.#context.clock.now() + reply.unheardMs };
    this.#current = undefined;
    this.#onReplyEnd(reply);
  }

  async #run(reply: Reply, situation: Situation | undefined, given?: readonly Message[]): Promise<void> {
    const { participants, settings, post, recall } = this.#context;
    const around = participants.around(this.#context.acting()?.surroundings(reply.request));
    try {
      if (participants.misses(reply.request, given)) return post({ type: 'reply-finish', reply });
      const { goesOn } = reply.request;
      // What a restart has cut of this reply is not said before it, but by it.
      const items = participants.items.filter(({ id }) => goesOn?.itemIds.includes(id) !== true);
      const history = participants.heard(given ?? messagesOf(reply.request.items ?? items));
      const isOfTalk = reply.request.inConversation && reply.request.items === undefined;
      const memories = isOfTalk ? ((await recall?.(history, reply)) ?? []) : [];
      // A speculative reply answers text that the moods have not taken in yet.
      const feelings = participants.moods.now(undefined, given?.at(-1)?.text);
      const passesUser = this.#last?.reply.rest === 'users-turn';
      const knowing = { feelings, passesUser, ...around, ...(memories.length === 0 ? {} : { memories }) };
      for await (const step of reply.run(participants.cast.responder, history, settings(), situation, knowing))
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
    const { emotion, intensity } = step;
    const about = { role: 'assistant', status: 'in_progress', emotion, intensity, speaker: reply.speaker } as const;
    reply.item = { id: newId('item'), type: 'message', ...about, content: [content] };
    const { inConversation } = reply.request;
    const previousItemId = inConversation ? conversation.insert(reply.item) : null;
    emit({ type: 'reply-item', replyId: reply.id, item: reply.item, inConversation, previousItemId });
  }

  #tellCues(reply: Reply, placed: readonly PlacedCue[], endMs?: number): void {
    const { acting, emit } = this.#context;
    const cues = acting()?.act(reply, placed, endMs) ?? placed;
    if (reply.item !== undefined && cues.length > 0) reply.item.cues = [...(reply.item.cues ?? []), ...cues];
    for (const cue of cues) emit({ type: 'reply-cue', replyId: reply.id, itemId: reply.item?.id ?? null, cue });
  }

  /** Ends the item of a reply, complete or not. */
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
    // Some chat servers restart the numbering of calls in every reply.
    const isTaken = conversation.items.some((item) => item.type === 'call' && item.callId === callId);
    const own = { callId: isTaken ? `call_${id}` : callId, name, arguments: text };
    const item: CallItem = { id, type: 'call', status: 'completed', ...own };
    reply.calls.push(item);
    const { inConversation } = reply.request;
    const previousItemId = inConversation ? conversation.insert(item) : null;
    emit({ type: 'reply-call', replyId: reply.id, item, inConversation, previousItemId });
  }

  /** Truncates the history to what can have been heard, until the client reports it exactly by truncating. */
  #cut(reply: Reply, heardMs = reply.heardMs): void {
    if (reply.item !== undefined) this.#context.conversation.truncate(reply.item, heardMs);
  }
}

function problemOf(failure: unknown): Problem {
  if (failure instanceof EngineError) return { code: failure.code, message: failure.message };
  return { code: 'internal_error', message: 'The reply failed. Try again.' };
}
