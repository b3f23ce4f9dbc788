import { concatSamples, durationMs, floatsFromInt16, type AudioFrame } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import { Queue } from '../../../voices/runtime/streams.ts';
import type { SpeechEdge } from '../../../voices/dsp/vad-hysteresis.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import { Blocks, joined, addSound, type MessageItem, type SpokenContent, type Sounded } from '../contract/item.ts';
import type { Problem, SessionCommand } from '../contract/events.ts';
import type { Responder } from '../contract/responder.ts';
import type { TurnTimings } from '../contract/turn-timings.ts';

/** A command as it enters a session, with the wall time of its arrival. */
export interface Inbound {
  readonly command: SessionCommand;
  readonly arrivedMs: number;
}

/** One window of the user's audio, with the VAD's result. */
export interface VadWindow {
  readonly type: 'heard';
  /** Its samples are overwritten once it has been processed. */
  readonly frame: AudioFrame;
  readonly voiced: boolean;
  readonly edge: SpeechEdge | undefined;
  /** The player that it comes from; 0 unless given. */
  readonly player?: number;
  readonly arrivedMs: number;
  /** The client's last numbered message whose audio ends before this window does. */
  readonly upTo?: number | undefined;
  /** Set if the VAD failed on this window, which then counts as silence. */
  readonly failure: unknown;
}

/** Audio kept of its end for the turn detector: smart-turn's input length. */
const tailMs = 8_000;

/** One stretch of the user's speech, from its opening to its final transcript. Recognized while it is spoken. */
export class Utterance {
  readonly id: string;
  readonly trace: TurnTimings;
  readonly content: SpokenContent;
  /** Its item in the conversation, once committed. */
  item: MessageItem | undefined;
  /** True once the final transcript is known, or can no longer come. */
  settled = false;
  /** The stable part of the transcript, on which partials have agreed. */
  stable = '';
  /** Recognized only to classify an overlap; not reported to the client. */
  tentative = false;
  interrupts = false;
  /** Returns what the character was saying meanwhile; undefined if it was silent. */
  over: (() => Sounded) | undefined;
  /** True if it is the character's own speech, by present knowledge. */
  isOwnVoice = false;
  hasOwnVoice = false;
  said: OverlapKind | undefined;
  text = '';
  /** Start in audio time, padding included; undefined while it has no audio. */
  startMs: number | undefined;
  /** From the start of the first voiced window to the end of the last. */
  voiced: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly #frames = new Queue<AudioFrame>();
  #endMs = 0;
  readonly #tail: { readonly atMs: number; readonly block: Int16Array }[] = [];
  /** Each buffer holds one second. */
  readonly #blocks: Blocks;
  readonly #keptMs: number;
  readonly #stop = new AbortController();
  #lastPartial = '';

  /** `keptMs`: how much of its audio is kept. `spoken`: existing audio, recognized first. */
  constructor(id: string, sampleRate: number, trace: TurnTimings, keptMs: number, spoken?: SpokenContent) {
    this.id = id;
    this.#blocks = new Blocks(sampleRate);
    this.#keptMs = keptMs;
    this.trace = trace;
    this.content = spoken ?? { type: 'audio', transcript: null, durationMs: 0, audio: [], sampleRate, words: [] };
    for (const block of spoken?.audio ?? [])
      this.#frames.push({ samples: floatsFromInt16(block), sampleRate, atMs: 0 });
  }

  /** Recognizes the audio that is added, until `close`. Yields the recognizer's parts; throws what it throws. */
  transcribe(responder: Responder, language: string | undefined): AsyncIterable<TranscriptPart> {
    return responder.listen(this.#frames, {
      signal: this.#stop.signal,
      ...(language === undefined ? {} : { language }),
    });
  }

  /** Adds a frame. Copies what it keeps. */
  add(frame: AudioFrame): void {
    this.#frames.push({ ...frame, samples: frame.samples.slice() });
    this.startMs ??= frame.atMs;
    // Shares the samples that are kept: two bytes each, stored once.
    const block = this.#blocks.of(frame.samples);
    this.#tail.push({ atMs: frame.atMs, block });
    const endMs = frame.atMs + durationMs(frame);
    this.#endMs = endMs;
    while ((this.#tail[0]?.atMs ?? endMs) < endMs - tailMs) this.#tail.shift();
    if (frame.voiced === true) this.voiced = { fromMs: this.voiced?.fromMs ?? frame.atMs, toMs: endMs };
    addSound(this.content, block, this.#keptMs);
  }

  /** Returns its last seconds; after `close`, as much of them as is kept of its audio. */
  tail(): AudioFrame {
    const { audio, sampleRate } = this.content;
    if (this.#tail.length > 0) {
      const samples = concatSamples(this.#tail.map(({ block }) => floatsFromInt16(block)));
      return { samples, sampleRate, atMs: this.#tail[0]?.atMs ?? 0 };
    }
    const whole = concatSamples(audio.map(floatsFromInt16));
    const samples = whole.subarray(Math.max(0, whole.length - Math.round((tailMs / 1000) * sampleRate)));
    return { samples, sampleRate, atMs: this.#endMs - (samples.length / sampleRate) * 1000 };
  }

  /** Ends the audio: the final transcript is due. */
  close(): void {
    this.#frames.end();
    // Many small blocks take a third more memory; and the turn detector is not asked any more.
    this.#tail.length = 0;
    this.content.audio = joined(this.content.audio);
  }

  /** Drops the utterance: no transcript is wanted any more. */
  drop(): void {
    this.settled = true;
    this.#stop.abort(new Error('the utterance was dropped'));
    this.#frames.end();
  }

  get dropped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Takes a new hypothesis; returns how the stable part grew: words that two hypotheses in a row share. */
  agree(text: string): string {
    this.text = text;
    const words = text.split(/(?<=\s)/u);
    const before = this.#lastPartial.split(/(?<=\s)/u);
    let agreed = '';
    // The last word may still grow, so it never counts as agreed.
    for (let index = 0; index < words.length - 1 && words[index] === before[index]; index += 1) agreed += words[index];
    this.#lastPartial = text;
    if (agreed.length <= this.stable.length || !agreed.startsWith(this.stable)) return '';
    const grown = agreed.slice(this.stable.length);
    this.stable = agreed;
    return grown;
  }
}

/** Returns the error that the client gets if recognition failed. */
export function recognitionProblem(reason: unknown): Problem {
  if (reason instanceof EngineError) return { code: reason.code, message: reason.message };
  return { code: 'internal_error', message: 'Speech recognition failed.' };
}

/** Sound over a reply: words; backchannel or own echo (aside); or nothing clear, once it ended. */
export type OverlapKind = 'words' | 'aside' | 'unclear';

/** Longest time for which a sound over the reply is kept while it is unclassified: the latency of a slow recognizer. */
const longestVerdictMs = 10_000;

/** A point in the audio: how much has been processed, and when the last of it arrived, by the wall clock. */
export interface Mark {
  readonly heardMs: number;
  readonly arrivedMs: number;
}

/** Utterances without a final transcript. */
export class PendingUtterances {
  readonly #begun = new Map<Utterance, Mark>();

  add(utterance: Utterance, mark: Mark): void {
    this.#begun.set(utterance, mark);
  }

  delete(utterance: Utterance): void {
    this.#begun.delete(utterance);
  }

  /** True while one of them is an item of the conversation. */
  get waiting(): boolean {
    return [...this.#begun.keys()].some((utterance) => utterance.item !== undefined);
  }

  /** Start of the oldest of them. */
  get fromMs(): number {
    // One that came as an item has no place in the audio; its message is needed, nothing after it.
    return Math.min(...[...this.#begun].map(([{ startMs }, { heardMs }]) => startMs ?? heardMs - 1));
  }

  /** Start of the oldest unclassified overlap. */
  get unjudgedFromMs(): number {
    return Math.min(...this.#unjudged().map(([utterance]) => utterance.startMs ?? Infinity));
  }

  /** Returns the audio time from which pre-roll must be kept if the next utterance needs it from `fromMs` on. */
  keptFromMs(fromMs: number, now: Mark): number {
    const [first] = this.#unjudged();
    if (first === undefined) return fromMs;
    const [, begun] = first;
    // Audio that came faster than real time did not take its length: the recognizer's latency is wall time.
    const aheadMs = now.heardMs - begun.heardMs - (now.arrivedMs - begun.arrivedMs);
    const oldestMs = now.heardMs - longestVerdictMs - Math.max(0, aheadMs);
    return Math.min(fromMs, Math.max(oldestMs, this.unjudgedFromMs));
  }

  dropPartsOf(whole: Utterance): void {
    for (const [utterance] of this.#unjudged()) if (utterance !== whole) this.drop(utterance);
  }

  drop(utterance: Utterance | undefined): void {
    if (utterance === undefined) return;
    this.#begun.delete(utterance);
    utterance.drop();
  }

  close(): void {
    for (const utterance of this.#begun.keys()) utterance.drop();
  }

  #unjudged(): [Utterance, Mark][] {
    return [...this.#begun].filter(([{ tentative }]) => tentative);
  }
}

/** Outcome of an utterance, for the session to act on. */
export interface Understood {
  readonly utterance: Utterance;
  readonly outcome: 'words' | 'nothing' | 'unclear' | 'failed';
}

/** Results of the ASR, posted to the session's queue. */
export type ListeningInput =
  | { readonly type: 'transcript'; readonly utterance: Utterance; readonly part: TranscriptPart }
  | { readonly type: 'transcript-failure'; readonly utterance: Utterance; readonly reason: unknown };
