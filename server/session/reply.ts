import type { Situation } from '../../agents/agent.ts';
import type { Message } from '../../agents/chat.ts';
import { int16FromFloats } from '../../voices/audio.ts';
import type { TimedWord } from '../../voices/synthesizer.ts';
import type { Clock } from './clock.ts';
import type { CallItem, MessageItem, SpokenContent } from './conversation.ts';
import type { ReplyEnd, ReplyReason, ReplyRequest } from './events.ts';
import { Playout, type SpeechSlice } from './playout.ts';
import type { Responder, SpokenPart } from './responder.ts';
import type { SessionSettings } from './settings.ts';
import type { Trace } from './trace.ts';

/** A step of a reply on its way to the client. */
export type ReplyStep =
  | { readonly type: 'slice'; readonly slice: SpeechSlice }
  | { readonly type: 'text'; readonly text: string }
  | Extract<SpokenPart, { type: 'mind' | 'usage' | 'tool-call' }>;

/** One reply from its request to its end; what it says is provisional until its first sound has been sent. */
export class Reply {
  readonly id: string;
  readonly request: ReplyRequest;
  readonly speaks: boolean;
  readonly trace: Trace;
  /** What it says; undefined until it says something. */
  item: MessageItem | undefined;
  /** What it calls, after all it says. */
  readonly calls: CallItem[] = [];
  #reason: ReplyReason | undefined;
  #mind: ReplyEnd['mind'];
  #usage = { inputTokens: 0, outputTokens: 0, cutShort: false };
  readonly #playout: Playout;
  readonly #stop = new AbortController();

  constructor(
    id: string,
    request: ReplyRequest,
    speaks: boolean,
    trace: Trace,
    pacing: { clock: Clock; aheadMs: number },
  ) {
    this.id = id;
    this.request = request;
    this.speaks = speaks;
    this.trace = trace;
    this.#playout = new Playout({ ...pacing, signal: this.#stop.signal });
  }

  /** Stops it wherever it is; the first reason given stays. */
  abort(reason: ReplyReason): void {
    this.#reason ??= reason;
    this.#stop.abort(new Error(reason));
  }

  get aborted(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The client has played this much of it by now. */
  heard(heardMs: number): void {
    this.#playout.report(heardMs);
    if (heardMs > 0) this.trace.markBefore('heard', heardMs);
  }

  /** What a listener can have heard of it by now, in milliseconds. */
  get heardMs(): number {
    return this.#playout.heardMs;
  }

  /** What has been sent of it and is still to be heard, in milliseconds. */
  get unheardMs(): number {
    return this.#playout.sentMs - this.#playout.heardMs;
  }

  /** Makes the reply and paces its speech. */
  async *run(
    responder: Responder,
    history: readonly Message[],
    settings: SessionSettings,
    situation: Situation | undefined,
  ): AsyncIterable<ReplyStep> {
    const maxTokens = this.request.maxTokens ?? settings.maxTokens ?? Infinity;
    const toolbox = this.request.toolbox ?? settings.toolbox;
    const parts = responder.reply(history, {
      signal: this.#stop.signal,
      speaks: this.speaks,
      scene: this.request.scene ?? settings.scene,
      speed: settings.speed,
      trace: this.trace,
      ...(maxTokens === Infinity ? {} : { maxTokens }),
      ...(toolbox === undefined || toolbox.choice === 'none' || toolbox.tools.length === 0 ? {} : { toolbox }),
      ...(situation === undefined ? {} : { situation }),
    });
    for await (const part of parts) {
      if (part.type !== 'speech') yield part;
      else for await (const slice of this.#playout.pace(part.chunk)) yield { type: 'slice', slice };
    }
  }

  /** Writes a step into the item that the reply becomes. */
  note(step: ReplyStep): void {
    if (step.type === 'mind') {
      this.#mind = { name: step.name, ...(step.because === undefined ? {} : { because: step.because }) };
    } else if (step.type === 'usage') {
      this.#usage = step;
    } else if (step.type === 'text') {
      const part = this.item?.content[0];
      if (part?.type === 'text') part.text += step.text;
    } else if (step.type === 'slice') {
      const part = this.item?.content[0];
      if (part?.type === 'audio') appendSlice(part, step.slice);
    }
  }

  end(failure?: ReplyEnd['problem']): ReplyEnd {
    const spoken = this.item?.content[0];
    const base = {
      ...(this.#mind === undefined ? {} : { mind: this.#mind }),
      usage: {
        inputTokens: this.#usage.inputTokens,
        outputTokens: this.#usage.outputTokens,
        audioMs: spoken?.type === 'audio' ? spoken.durationMs : 0,
      },
      latency: this.trace.latency(),
      tookMs: this.trace.tookMs,
    };
    if (this.#reason !== undefined) return { status: 'cancelled', reason: this.#reason, ...base };
    if (failure !== undefined) return { status: 'failed', problem: failure, ...base };
    if (this.#usage.cutShort) return { status: 'incomplete', reason: 'max_output_tokens', ...base };
    return { status: 'completed', ...base };
  }
}

function appendSlice(part: SpokenContent, slice: SpeechSlice): void {
  part.audio.push(int16FromFloats(slice.samples));
  part.durationMs += (slice.samples.length / slice.sampleRate) * 1000;
  part.transcript = (part.transcript ?? '') + slice.text;
  part.words.push(...(slice.words as TimedWord[]));
}
