import type { Violation } from '../../../agents/violation.ts';
import type { Situation } from '../../../agents/agent.ts';
import type { Message } from '../../../agents/chat.ts';
import type { Felt } from '../../../characters/emotion.ts';
import { joined, addSound, type CallItem, type MessageItem, type Speaker, WaitingCues } from '../contract/item.ts';
import type { SessionContext } from '../history/context.ts';
import type { ReplyEnd, ReplyReason, ReplyRequest, Speculation } from '../contract/events.ts';
import type { Moods } from '../history/participants.ts';
import { Playout, type SpeechSlice } from './playout.ts';
import type { ReplyOptions, Responder, SpokenPart } from '../contract/responder.ts';
import type { SessionSettings } from '../contract/settings.ts';
import type { TurnTimings } from '../contract/turn-timings.ts';
import { durationMs } from '../../../voices/audio.ts';

/** A step of a reply on its way to the client. */
export type ReplyStep =
  | ({ readonly type: 'slice'; readonly slice: SpeechSlice } & Felt)
  | ({ readonly type: 'text'; readonly text: string } & Felt)
  | Extract<
      SpokenPart,
      { type: 'reply-source' | 'usage' | 'tool-call' | 'cue' | 'speaker' | 'section' | 'scene-end' | 'users-turn' }
    >;

/** One reply from its request to its end; provisional until its first audio has been sent. */
export class Reply {
  readonly id: string;
  readonly request: ReplyRequest;
  readonly speaks: boolean;
  readonly trace: TurnTimings;
  /** The item with its words; undefined until it says something. */
  item: MessageItem | undefined;
  /** Its tool calls, which follow its words. */
  readonly calls: CallItem[] = [];
  /** The participant that speaks, in a scene; or why none does: it is over, or it is the user's turn. */
  speaker: Speaker | undefined;
  rest: 'scene-end' | 'users-turn' | undefined;
  /** Stage directions: what the character does and thinks, besides its words. */
  readonly cues = new WaitingCues();
  /** Cost of the speculative replies since the reply before, if these are enabled. */
  speculation: Speculation | undefined;
  #reason: ReplyReason | undefined;
  #replySource: ReplyEnd['replySource'];
  #usage: Omit<Extract<SpokenPart, { type: 'usage' }>, 'type'> = { inputTokens: 0, outputTokens: 0, cutShort: false };
  /** Settles when the reply may be sent; undefined if it may be sent at once. */
  readonly confirmed: Promise<void> | undefined;
  readonly #keptAudioMs: number;
  #madeMs = 0;
  readonly #violations: Violation[] = [];
  readonly #playout: Playout;
  readonly #stop = new AbortController();

  /** `confirmed`: of a speculative reply. */
  constructor(
    context: Pick<SessionContext, 'settings' | 'clock' | 'aheadMs' | 'newId' | 'conversation'>,
    request: ReplyRequest,
    trace: TurnTimings,
    confirmed?: Promise<void>,
  ) {
    const { settings, clock, aheadMs, newId, conversation } = context;
    this.id = newId('resp');
    this.request = request;
    this.speaks = request.speaks ?? settings().speaks;
    this.trace = trace;
    this.confirmed = confirmed;
    this.#keptAudioMs = conversation.keptAudioMs;
    this.#playout = new Playout({ clock, aheadMs, signal: this.#stop.signal });
  }

  /** Stops the reply at any stage; the first reason given stays. */
  abort(reason: ReplyReason): void {
    this.#reason ??= reason;
    this.#stop.abort(new Error(reason));
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Takes the client's report of how much it has played; `held`: the position at which it fell silent for a hold. */
  heard(heardMs: number, held = false): void {
    this.#playout.report(heardMs);
    const part = this.item?.content[0];
    const repeat = part?.type === 'audio' ? part.repeat : undefined;
    // A position at a hold, reported after the reply resumed. If everything had been heard, only `held` shows it.
    if (repeat !== undefined && heardMs < repeat.untilMs + (held ? 1 : 0))
      repeat.fromMs = Math.max(repeat.fromMs, heardMs);
    if (heardMs > 0) this.trace.heardSince(heardMs);
  }

  /** Milliseconds that the listener can have heard by now. */
  get heardMs(): number {
    return this.#playout.heardMs;
  }

  /** Drops the audio: a later reply has been heard. */
  forget(): void {
    this.#playout.forget();
  }

  /** Returns audio that was sent recently, see `RecentSpeech`. */
  soundAt(...which: Parameters<Playout['soundAt']>): ReturnType<Playout['soundAt']> {
    return this.#playout.soundAt(...which);
  }

  /** Milliseconds that have been sent and not heard yet. */
  get unheardMs(): number {
    return this.#playout.sentMs - this.#playout.heardMs;
  }

  /** True if a participant of a scene has completed it, in the conversation. */
  get wasPlayed(): boolean {
    return this.request.inConversation && this.item?.status === 'completed' && !this.aborted;
  }

  /** Milliseconds of audio sent. */
  get spokenMs(): number {
    return this.#playout.sentMs;
  }

  /** True if some of it is playing at the client right now. */
  get sounds(): boolean {
    return this.#playout.sounds;
  }

  /** Tokens and speech generated so far, sent or not. */
  get spent(): { readonly tokens: number; readonly speechMs: number } {
    return { tokens: this.#usage.outputTokens, speechMs: this.#madeMs };
  }

  /** Pauses in mid-speech until `resume`; `stops`: the client falls silent at once. */
  hold(stops: boolean): void {
    this.#playout.hold(stops);
  }

  /** Resumes from the start of the clause that was heard last. Returns the delay of the unheard words in ms. */
  resume(): number {
    const repeat = this.#playout.resume();
    const part = this.item?.content[0];
    if (repeat !== undefined && part?.type === 'audio') part.repeat = repeat;
    return repeat?.laterMs ?? 0;
  }

  /** Makes the reply and paces its speech. A speculative reply is made only so far ahead, and sent once confirmed. */
  async *run(
    responder: Responder,
    history: readonly Message[],
    settings: SessionSettings,
    situation: Situation | undefined,
    knowing: Pick<ReplyOptions, 'feelings' | 'feelingsOf' | 'memories' | 'passesUser' | 'surroundings' | 'story'>,
  ): AsyncIterable<ReplyStep> {
    const maxTokens = this.request.maxTokens ?? settings.maxTokens ?? Infinity;
    const toolbox = this.request.toolbox ?? settings.toolbox;
    const { signal } = this.#stop;
    const sampling = this.request.sampling ? { ...settings.sampling, ...this.request.sampling } : settings.sampling;
    const made = responder.reply(history, {
      signal,
      speaks: this.speaks,
      scene: this.request.scene ?? settings.scene,
      speed: settings.speed,
      trace: this.trace,
      confirmed: this.confirmed,
      ...knowing,
      onViolation: (violation) => this.#violations.push(violation),
      onCost: (cost) => (this.#usage = { ...cost, cutShort: false }),
      onSpeech: (ms) => (this.#madeMs += ms),
      ...(sampling === undefined ? {} : { sampling }),
      ...(maxTokens === Infinity ? {} : { maxTokens }),
      ...(toolbox === undefined || toolbox.choice === 'none' || toolbox.tools.length === 0 ? {} : { toolbox }),
      ...(situation === undefined ? {} : { situation }),
      ...saidBefore(this.request),
      ...(settings.recipe === undefined ? {} : { recipe: settings.recipe }),
    });
    const parts = this.confirmed === undefined ? made : readAhead(made, this.confirmed, signal);
    for await (const part of parts) {
      if (part.type !== 'speech') yield part;
      else
        for await (const slice of this.#playout.pace(part.chunk, part.begins))
          yield { type: 'slice', slice, emotion: part.emotion, intensity: part.intensity };
    }
    for await (const slice of this.#playout.rest()) yield { type: 'slice', slice };
  }

  /** Writes a step into the item of the reply. */
  note(step: ReplyStep): void {
    if (step.type === 'speaker') {
      this.speaker = step.speaker;
    } else if (step.type === 'scene-end' || step.type === 'users-turn') {
      this.rest = step.type;
    } else if (step.type === 'cue') {
      this.cues.add(step);
    } else if (step.type === 'reply-source') {
      this.cues.drop();
      this.#replySource = { name: step.name, ...(step.because === undefined ? {} : { because: step.because }) };
    } else if (step.type === 'usage') {
      this.#usage = step;
    } else if (step.type === 'text') {
      const part = this.item?.content[0];
      if (part?.type === 'text') part.text += step.text;
    } else if (step.type === 'slice') {
      const part = this.item?.content[0];
      if (part?.type !== 'audio') return;
      addSound(part, step.slice.block, this.#keptAudioMs);
      part.transcript = (part.transcript ?? '') + step.slice.text;
      part.words.push(...step.slice.words);
    }
  }

  /** Closes the reply and returns its outcome. `moods`: the moods at that time. */
  end(moods: Pick<Moods, 'now' | 'ofCast'>, failure?: ReplyEnd['problem']): ReplyEnd {
    this.#playout.fade();
    const spoken = this.item?.content[0];
    // A truncated item may grow again, from the same blocks.
    if (spoken?.type === 'audio' && this.#reason === undefined) spoken.audio = joined(spoken.audio);
    const base = {
      ...(this.#replySource === undefined ? {} : { replySource: this.#replySource }),
      usage: {
        inputTokens: this.#usage.inputTokens,
        outputTokens: this.#usage.outputTokens,
        audioMs: spoken?.type === 'audio' ? spoken.durationMs : 0,
      },
      feelings: moods.now(this.speaker?.id),
      ...(moods.ofCast === undefined ? {} : { castFeelings: moods.ofCast }),
      latency: this.trace.latency(),
      tookMs: this.trace.tookMs,
      ...(this.rest === undefined ? {} : { rest: this.rest }),
      ...(this.#violations.length === 0 ? {} : { violations: this.#violations }),
      ...(this.speculation === undefined ? {} : { speculation: this.speculation }),
    };
    if (this.#reason !== undefined) return { status: 'cancelled', reason: this.#reason, ...base };
    if (failure !== undefined) return { status: 'failed', problem: failure, ...base };
    const { cutShort } = this.#usage;
    const reasons = { length: 'max_output_tokens', filter: 'content_filter' } as const;
    if (cutShort !== false) return { status: 'incomplete', reason: reasons[cutShort], ...base };
    return { status: 'completed', ...base };
  }
}

function saidBefore({ goesOn }: ReplyRequest): Pick<ReplyOptions, 'heard' | 'rest'> {
  return goesOn === undefined ? {} : { heard: goesOn.heard, rest: goesOn.rest };
}

/** Most speech made before the reply is confirmed: enough to begin with, while the rest is made. */
const mostSpeechMs = 2_000;

/** The same limit for text, in parts. */
const mostParts = 64;

/**
 * Takes the first parts of a reply as they are made, and yields them when the reply is `confirmed`. Throws what `parts`
 * throws, once confirmed, and `signal.reason` when aborted.
 */
async function* readAhead(
  parts: AsyncIterable<SpokenPart>,
  confirmed: Promise<void>,
  signal: AbortSignal,
): AsyncIterable<SpokenPart> {
  const iterator = parts[Symbol.asyncIterator]();
  const taken: SpokenPart[] = [];
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  aborted.promise.catch(() => undefined);
  const wanted = confirmed.then(() => true);
  const enough = { reached: false };
  void wanted.then(() => (enough.reached = true));
  const taking = (async () => {
    let speechMs = 0;
    while (!enough.reached) {
      const next = await iterator.next();
      if (next.done === true) return 'ended';
      if (next.value.type === 'speech') speechMs += durationMs(next.value.chunk.frame);
      taken.push(next.value);
      if (speechMs >= mostSpeechMs || taken.length >= mostParts) break;
    }
    return 'more';
  })();
  taking.catch(() => undefined);
  try {
    // A speculative reply that fails reports it at once: there is time for another.
    await Promise.race([wanted, aborted.promise, taking.then(() => wanted)]);
    yield* taken.splice(0);
    // The part that is being made when the reply is confirmed comes next.
    const state = await Promise.race([taking, aborted.promise]);
    yield* taken.splice(0);
    if (state === 'ended') return;
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a source in the middle of its work answers only when that is done.
    void iterator.return?.().catch(() => undefined);
  }
}
