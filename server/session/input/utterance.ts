import { concatSamples, durationMs, floatsFromInt16, type AudioFrame } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import { Queue } from '../../../voices/runtime/queue.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import { Blocks, joined } from '../history/blocks.ts';
import { addSound, type MessageItem, type SpokenContent } from '../history/conversation.ts';
import type { Sounded } from './echo/echo.ts';
import type { Problem } from '../contract/events.ts';
import type { Responder } from '../../responders/responder.ts';
import type { Trace } from '../contract/turn-timings.ts';
import type { Overlap } from '../turns/turn.ts';

/** Sound kept of its end, for who wants to know whether it is over: what smart-turn listens to. */
const tailMs = 8_000;

/** One stretch of the user's speech, from where it opened to its final transcript. Recognized while it is spoken. */
export class Utterance {
  readonly id: string;
  readonly trace: Trace;
  readonly content: SpokenContent;
  /** Its place in the conversation, once committed. */
  item: MessageItem | undefined;
  /** True once the final transcript is known, or can no longer come. */
  settled = false;
  /** The part of the transcript that partials have agreed on. */
  stable = '';
  /** Heard only to find out what it is; nobody is told of it. */
  tentative = false;
  /** It is what stopped a reply. */
  interrupts = false;
  /** What the character was saying meanwhile, if anything. */
  over: (() => Sounded) | undefined;
  /** It was the character itself, as far as is known. */
  isOwnVoice = false;
  /** Its voice is the character's. */
  hasOwnVoice = false;
  /** What it is by its words, over a reply. */
  said: Overlap | undefined;
  /** What has been understood so far. */
  text = '';
  /** Where it begins, in audio time, padding included; undefined while it has no sound. */
  startMs: number | undefined;
  /** The first and the last of it that was voiced. */
  voiced: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly #frames = new Queue<AudioFrame>();
  #endMs = 0;
  readonly #tail: { readonly atMs: number; readonly block: Int16Array }[] = [];
  /** A second in each buffer. */
  readonly #blocks: Blocks;
  readonly #keptMs: number;
  readonly #stop = new AbortController();
  #lastPartial = '';

  /** `keptMs`: how much of its sound is kept. `spoken`: sound that is there already; it is heard first. */
  constructor(id: string, sampleRate: number, trace: Trace, keptMs: number, spoken?: SpokenContent) {
    this.id = id;
    this.#blocks = new Blocks(sampleRate);
    this.#keptMs = keptMs;
    this.trace = trace;
    this.content = spoken ?? { type: 'audio', transcript: null, durationMs: 0, audio: [], sampleRate, words: [] };
    for (const block of spoken?.audio ?? [])
      this.#frames.push({ samples: floatsFromInt16(block), sampleRate, atMs: 0 });
  }

  /** Recognizes what is added, until `close`. Yields the recognizer's parts; throws what it throws. */
  transcribe(responder: Responder, language: string | undefined): AsyncIterable<TranscriptPart> {
    return responder.listen(this.#frames, {
      signal: this.#stop.signal,
      ...(language === undefined ? {} : { language }),
    });
  }

  /** Copies what it keeps of the frame. */
  add(frame: AudioFrame): void {
    this.#frames.push({ ...frame, samples: frame.samples.slice() });
    this.startMs ??= frame.atMs;
    // The same samples as are kept: two bytes each, and once.
    const block = this.#blocks.of(frame.samples);
    this.#tail.push({ atMs: frame.atMs, block });
    const endMs = frame.atMs + durationMs(frame);
    this.#endMs = endMs;
    while ((this.#tail[0]?.atMs ?? endMs) < endMs - tailMs) this.#tail.shift();
    if (frame.voiced === true) this.voiced = { fromMs: this.voiced?.fromMs ?? frame.atMs, toMs: endMs };
    addSound(this.content, block, this.#keptMs);
  }

  /** Its last seconds; when it is over, as much of them as is kept of its sound. */
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

  /** No more sound will come: the final transcript is due. */
  close(): void {
    this.#frames.end();
    // Many small blocks take a third more memory; and nobody asks any more whether it is over.
    this.#tail.length = 0;
    this.content.audio = joined(this.content.audio);
  }

  /** Forgets it: no transcript is wanted any more. */
  drop(): void {
    this.settled = true;
    this.#stop.abort(new Error('the utterance was dropped'));
    this.#frames.end();
  }

  get dropped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Takes a new hypothesis; returns how the agreed part grew: words that two hypotheses in a row share. */
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

/** What the client is told where it could not be recognized. */
export function recognitionProblem(reason: unknown): Problem {
  if (reason instanceof EngineError) return { code: reason.code, message: reason.message };
  return { code: 'internal_error', message: 'Speech recognition failed.' };
}
