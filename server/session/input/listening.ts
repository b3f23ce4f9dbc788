import type { AudioFrame } from '../../../voices/audio.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import { soundToHear, userMessage, type Item } from '../contract/item.ts';
import {
  type VadWindow,
  type OverlapKind,
  recognitionProblem,
  Utterance,
  PendingUtterances,
  type Mark,
  type Understood,
  type ListeningInput,
} from './utterance.ts';
import { isBackchannelReply, isOwnVoice, languagesOf, overlapKindOf } from './overlap-classifier.ts';
import type { SessionContext } from '../history/context.ts';
import { PreRoll } from '../../../voices/dsp/pre-roll.ts';
import { TurnTimings } from '../contract/turn-timings.ts';

/** Longest utterance that is recognized; audio after that is dropped. */
const maxUtteranceMs = 600_000;

/** Pre-roll kept beyond the padding: the speech that the VAD needs to be sure. */
const spareMs = 2_000;

/** One player's part of the listening. */
export interface HeardPlayer {
  readonly open: Utterance | undefined;
  readonly lastVoiced: Mark;
}
const nothing: HeardPlayer = { open: undefined, lastVoiced: { heardMs: 0, arrivedMs: 0 } };

/** The user's side: keeps the pre-roll, recognizes the open utterance, commits it. */
export class Listening {
  readonly #context: SessionContext<ListeningInput>;
  readonly #before = new PreRoll();
  readonly #unsettled = new PendingUtterances();
  #open: Utterance | undefined;
  /** The unclassified sound over the reply. */
  #overlap: Utterance | undefined;
  #lastTrace: TurnTimings | undefined;
  #unclear = false;
  #heardMs = 0;
  #lastVoiced = nothing.lastVoiced;
  #lastArrivalMs = 0;
  #saidTooLong = false;
  #lastFailureMs = -Infinity;

  constructor(context: SessionContext<ListeningInput>) {
    this.#context = context;
  }

  /** True while a committed utterance waits for its transcript. */
  get waiting(): boolean {
    return this.#unsettled.waiting;
  }

  get current(): Utterance | undefined {
    return this.#open;
  }

  /** Audio time: milliseconds of audio processed so far. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Audio time from which on audio may still become, or is, part of an utterance without a final transcript. */
  get neededFromMs(): number {
    const { fromMs = this.#heardMs } = this.#before;
    return Math.min(this.#heardMs, fromMs, this.#open?.startMs ?? Infinity, this.#unsettled.fromMs);
  }

  /** Audio time at which the last voiced window ended. */
  get voicedMs(): number {
    return this.#lastVoiced.heardMs;
  }

  /** Returns the turn timings of the last committed utterance, once: its reply continues them. */
  takeTrace(): TurnTimings | undefined {
    const trace = this.#lastTrace;
    this.#lastTrace = undefined;
    return trace;
  }

  /** Returns true, once, if the latest utterance was not understood: its reply asks for a repetition. */
  takeUnclear(): boolean {
    const unclear = this.#unclear;
    this.#unclear = false;
    return unclear;
  }

  /** Turns to another player: under push to talk each has an open utterance. Returns the part of the player before. */
  turnTo({ open, lastVoiced } = nothing): HeardPlayer {
    const before = { open: this.#open, lastVoiced: this.#lastVoiced };
    this.#open = open;
    this.#lastVoiced = lastVoiced;
    return before;
  }

  /** Adds a window to the open utterance, otherwise to the pre-roll. */
  take(heard: VadWindow): void {
    this.#heardMs = heard.frame.atMs + (heard.frame.samples.length / heard.frame.sampleRate) * 1000;
    this.#lastArrivalMs = heard.arrivedMs;
    if (heard.failure !== undefined) this.#reportDeafness(heard.failure);
    if (heard.voiced) this.#lastVoiced = this.#mark;
    if (this.#open !== undefined) return this.#extend(this.#open, heard.frame);
    this.#overlap?.add(heard.frame);
    this.#before.push(heard.frame);
    const padding = this.#context.settings().turnDetection?.prefixPaddingMs ?? 0;
    this.#before.forgetBefore(this.#unsettled.keptFromMs(this.#heardMs - padding - spareMs, this.#mark));
  }

  /**
   * Opens an utterance that begins at `atMs`, less padding, and starts to recognize it; an overlap that is being
   * recognized becomes the utterance. `over`: what the character is saying meanwhile. Also returns the start time.
   */
  open(atMs: number, over?: Utterance['over']): { readonly utterance: Utterance; readonly startMs: number } {
    // If recognition of the overlap has failed, it is recognized again.
    const overlap = this.#overlap?.settled === false ? this.#overlap : undefined;
    const utterance = overlap ?? this.#begin(atMs, over);
    utterance.interrupts = this.#overlap !== undefined;
    this.#overlap = undefined;
    utterance.tentative = false;
    this.#unsettled.dropPartsOf(utterance);
    this.#before.clear();
    this.#open = utterance;
    this.#saidTooLong = false;
    return { utterance, startMs: Math.round(utterance.startMs ?? atMs) };
  }

  /** Recognizes a sound over the reply, without any event to the client. */
  openOverlap(atMs: number, over: Utterance['over']): void {
    this.closeOverlap();
    this.#overlap = this.#begin(atMs, over);
    this.#overlap.tentative = true;
  }

  /** Drops the overlap: it was the character's own voice. */
  dropOverlap(): void {
    this.#unsettled.drop(this.#overlap);
    this.#overlap = undefined;
  }

  /** Ends the overlap. Its transcript may still come. */
  closeOverlap(): void {
    this.#overlap?.close();
    this.#overlap = undefined;
  }

  #begin(atMs: number, over: Utterance['over']): Utterance {
    const padding = this.#context.settings().turnDetection?.prefixPaddingMs ?? 0;
    const { participants, clock, newId, conversation } = this.#context;
    const { sampleRate } = participants.cast.responder;
    const utterance = new Utterance(newId('item'), sampleRate, new TurnTimings(clock), conversation.keptAudioMs);
    utterance.over = over;
    // Audio shortly before that is not recognized yet is part of the utterance: the user spoke on.
    for (const frame of this.#before.since(Math.min(atMs - padding, this.#unsettled.unjudgedFromMs)))
      utterance.add(frame);
    this.#unsettled.add(utterance, this.#mark);
    void this.#recognize(utterance);
    return utterance;
  }

  get #mark(): Mark {
    return { heardMs: this.#heardMs, arrivedMs: this.#lastArrivalMs };
  }

  /** Ends the open utterance and makes it an item of the conversation. Undefined if there was nothing to commit. */
  commit(): Utterance | undefined {
    if (this.#open === undefined && this.#before.fromMs !== undefined) this.open(this.#before.fromMs);
    const utterance = this.#open;
    if (utterance === undefined) return undefined;
    this.#open = undefined;
    const spoke = this.#lastVoiced.heardMs > this.#heardMs - utterance.content.durationMs;
    // What the endpoint waited for: audio, unless the client ends turns itself.
    const audio = { decidedFromMs: this.#lastArrivalMs, silenceMs: this.#heardMs - this.#lastVoiced.heardMs };
    const endpointing = this.#context.settings().turnDetection === null ? undefined : audio;
    utterance.trace.speechEnded(spoke ? this.#lastVoiced.arrivedMs : this.#context.clock.now(), endpointing);
    utterance.trace.mark('endpoint');
    utterance.item = { ...userMessage(utterance.id), ...this.#context.player?.(), content: [utterance.content] };
    const { conversation, emit } = this.#context;
    const previousItemId = conversation.insert(utterance.item);
    conversation.forgetOldMedia();
    emit({ type: 'audio-committed', itemId: utterance.id, previousItemId });
    emit({ type: 'item-added', item: utterance.item, previousItemId });
    utterance.close();
    this.#lastTrace = utterance.trace;
    return utterance;
  }

  /** Recognizes speech that came as a finished item, and fills in the transcript later. */
  adopt(item: Item): void {
    const content = soundToHear(item);
    if (content === undefined || item.type !== 'message') return;
    const { clock } = this.#context;
    const utterance = new Utterance(item.id, content.sampleRate, new TurnTimings(clock), 0, content);
    utterance.item = item;
    this.#unsettled.add(utterance, this.#mark);
    void this.#recognize(utterance);
    utterance.close();
  }

  /** Drops the open utterance, the overlap and the pre-roll. */
  clear(): void {
    this.#before.clear();
    for (const utterance of [this.#open, this.#overlap]) this.#unsettled.drop(utterance);
    this.#open = undefined;
    this.#overlap = undefined;
  }

  drop(utterance: Utterance | undefined): void {
    this.#unsettled.drop(utterance);
  }

  /** Drops everything, including utterances that wait for a transcript. */
  close(): void {
    this.clear();
    this.#unsettled.close();
  }

  /** Takes a part from the recognizer; returns the outcome of the utterance once it is known. */
  understand(utterance: Utterance, part: TranscriptPart): Understood | undefined {
    if (utterance.dropped) return undefined;
    const tells = this.#context.settings().transcribes;
    if (part.type === 'transcript-partial') {
      const stable = utterance.agree(part.text);
      if (tells) this.#context.emit({ type: 'transcript-partial', itemId: utterance.id, stable, text: part.text });
      return undefined;
    }
    const { unclear, confidence } = part;
    const sure = { ...(confidence === undefined ? {} : { confidence }), ...(unclear === undefined ? {} : { unclear }) };
    const { emit } = this.#context;
    const text = isOwnVoice(utterance, part.text, languagesOf(part, this.#context)) ? '' : part.text;
    this.#settle(utterance, text);
    utterance.trace.mark('transcript');
    if (tells) {
      const audioMs = utterance.content.durationMs;
      emit({ type: 'transcript-final', itemId: utterance.id, text, audioMs, ...sure });
    } else emit({ type: 'understood', itemId: utterance.id, text });
    if (unclear !== undefined) return this.#outcome(utterance, 'unclear');
    const isNothing = text.trim() === '' || isBackchannelReply(utterance, text);
    return this.#outcome(utterance, isNothing ? 'nothing' : 'words');
  }

  /** Classifies a sound over the reply by this transcript. Undefined if that is not possible yet. */
  classify(utterance: Utterance, part: TranscriptPart): OverlapKind | undefined {
    if (utterance.dropped) return undefined;
    if (part.type === 'transcript-final') this.#settle(utterance, part.text);
    else utterance.agree(part.text);
    return overlapKindOf(utterance, part, { heardMs: this.#heardMs, languages: languagesOf(part, this.#context) });
  }

  /** Handles a failed recognition. */
  misunderstand(utterance: Utterance, reason: unknown): Understood | undefined {
    if (utterance.dropped) return undefined;
    this.#settle(utterance, null);
    if (utterance.tentative) return undefined;
    utterance.trace.mark('transcript');
    this.#context.emit({ type: 'transcript-failed', itemId: utterance.id, problem: recognitionProblem(reason) });
    return this.#outcome(utterance, 'failed');
  }

  #outcome(utterance: Utterance, outcome: Understood['outcome']): Understood {
    this.#unclear = outcome !== 'words';
    return { utterance, outcome };
  }

  #settle(utterance: Utterance, text: string | null): void {
    utterance.settled = true;
    utterance.content.transcript = text;
    this.#unsettled.delete(utterance);
  }

  #reportDeafness(failure: unknown): void {
    const { clock, emit, onFault } = this.#context;
    onFault(failure);
    if (clock.now() - this.#lastFailureMs < 5_000) return;
    this.#lastFailureMs = clock.now();
    const message = 'Voice activity detection failed briefly; speech may have been missed.';
    emit({ type: 'problem', problem: { code: 'ENGINE_UNAVAILABLE', message } });
  }

  #extend(utterance: Utterance, frame: AudioFrame): void {
    if (utterance.content.durationMs < maxUtteranceMs) return utterance.add(frame);
    if (this.#saidTooLong) return;
    this.#saidTooLong = true;
    const message = `The utterance is over ${maxUtteranceMs / 60_000} minutes long; the rest is discarded. Commit or clear it.`;
    this.#context.emit({ type: 'problem', problem: { code: 'input_audio_too_long', message } });
  }

  async #recognize(utterance: Utterance): Promise<void> {
    const { participants, settings, post } = this.#context;
    try {
      for await (const part of utterance.transcribe(participants.cast.responder, settings().language)) {
        post({ type: 'transcript', utterance, part });
      }
    } catch (reason) {
      post({ type: 'transcript-failure', utterance, reason });
    }
  }
}
