import { durationMs } from '../../../voices/audio.ts';
import type { SpeechChunk, TimedWord } from '../../../voices/synthesizer.ts';
import { Blocks, type Repeat } from '../contract/item.ts';
import type { Clock } from '../contract/clock.ts';
import type { MouthSpan, SpokenPhrase } from '../contract/events.ts';
import type { RestOfPhrase } from '../contract/responder.ts';
import { RecentSpeech } from '../../../voices/dsp/recent-speech.ts';

/** A piece of speech ready to be sent: at most `sliceMs` long, with the words that begin in it. */
export interface SpeechSlice {
  readonly samples: Float32Array;
  /** The same samples in 16 bits, to be kept: shared and never changed. */
  readonly block: Int16Array;
  readonly sampleRate: number;
  readonly text: string;
  /** Times from the start of the reply; joined, their texts are `text`. */
  readonly words: readonly TimedWord[];
  /** Set on the first slice of a chunk. */
  readonly mouth?: MouthSpan;
  /** Set where a phrase begins, and where it begins to be said again. */
  readonly phrase?: SpokenPhrase;
}

interface PlayoutSettings {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How far ahead of real time speech may be sent: the most that still plays after a stop. */
  readonly aheadMs: number;
}

/** 60 ms keeps a base64 frame of 24 kHz audio well under 64 KiB, the smallest receive buffer among clients (Godot). */
const sliceMs = 60;
/** Sent samples that share a buffer: half a second at 24 kHz. */
const blockSamples = 12_000;
/** Time in which a client that stops on a hold is silent: half a round trip, and its audio output. */
const stopsWithinMs = 150;

interface Hold {
  readonly over: Promise<void>;
  readonly end: () => void;
  readonly sinceMs: number;
  /** Playback position at the hold, if the client stops at once: what was sent beyond it is discarded. */
  readonly heardMs: number | undefined;
  /** The last position that the client had reported. */
  readonly surelyMs: number;
}

/**
 * Paces a reply: cuts its speech into slices and sends each when it is due, so that stopping means stopping. The only
 * place that knows the playback position. All times count what was sent, repetitions included.
 */
export class Playout {
  readonly #settings: PlayoutSettings;
  readonly #recent = new RecentSpeech();
  readonly #blocks = new Blocks(blockSamples);
  #startedMs: number | undefined;
  #sentMs = 0;
  /** Part of `#sentMs` that was sent a second time. */
  #repeatedMs = 0;
  #hold: Hold | undefined;
  /** `#sentMs` at the last resume; a client that stops at once plays only what comes after. */
  #resumedAtMs = 0;
  /** Audio to be sent again before anything else. */
  #again: readonly Float32Array[] = [];
  /** The phrase that is being said, as if nothing were repeated; how much of it was known when it was reported. */
  #phrase: SpokenPhrase | undefined;
  #phraseLaterMs: number | undefined;
  /** The client's last report of its playback position, and when it came. */
  #reported: { readonly heardMs: number; readonly atMs: number } | undefined;

  constructor(settings: PlayoutSettings) {
    this.#settings = settings;
  }

  /** Milliseconds of speech sent so far. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /** Takes the client's report of its playback position. */
  report(heardMs: number): void {
    // A position from before the hold says nothing about the current one.
    if (heardMs < this.#resumedAtMs) return;
    this.#reported = { heardMs, atMs: this.#settings.clock.now() };
    if (this.#hold?.heardMs === undefined) return;
    const surelyMs = Math.min(heardMs, this.#sentMs);
    this.#hold = { ...this.#hold, heardMs: surelyMs, surelyMs };
  }

  /** Playback position: extrapolated from the client's last report; without one, as if it played at once. */
  get heardMs(): number {
    if (this.#hold?.heardMs !== undefined) return this.#hold.heardMs;
    if (this.#reported !== undefined) {
      const { heardMs, atMs } = this.#reported;
      return Math.min(this.#sentMs, heardMs + this.#settings.clock.now() - atMs);
    }
    return this.#startedMs === undefined ? 0 : Math.min(this.#sentMs, this.#settings.clock.now() - this.#startedMs);
  }

  /** True if some of the reply is playing at the client right now. */
  get sounds(): boolean {
    if (this.#hold?.heardMs !== undefined) return this.#settings.clock.now() - this.#hold.sinceMs < stopsWithinMs;
    return this.heardMs < this.#sentMs;
  }

  /** Stops sending until `resume`. `stops`: the client falls silent at once, and discards what it has not played. */
  hold(stops: boolean): void {
    if (this.#hold !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const heardMs = stops ? this.heardMs : undefined;
    const surelyMs = this.#reported?.heardMs ?? 0;
    this.#hold = { over: promise, end: resolve, sinceMs: this.#settings.clock.now(), heardMs, surelyMs };
  }

  /** Resumes from the start of the clause that was last heard. */
  resume(): Repeat | undefined {
    const hold = this.#hold;
    if (hold === undefined) return undefined;
    // Rather too much than too little: what is not said again is never heard.
    const fromMs = hold.heardMs === undefined ? this.#sentMs : hold.surelyMs;
    // A client that went on playing, and has audio left, was never silent.
    const brokeOff = hold.heardMs !== undefined || !this.sounds;
    this.#again = brokeOff ? this.#recent.clauseBefore(fromMs) : [];
    this.#hold = undefined;
    this.#reported = undefined;
    this.#startedMs = this.#settings.clock.now() - (hold.heardMs === undefined ? this.heardMs : this.#sentMs);
    this.#resumedAtMs = hold.heardMs === undefined ? 0 : this.#sentMs;
    hold.end();
    return { fromMs, untilMs: this.#sentMs, laterMs: this.#recent.lengthOf(this.#again) };
  }

  /** Returns audio that was sent recently, see `RecentSpeech`. */
  soundAt(...which: Parameters<RecentSpeech['soundAt']>): ReturnType<RecentSpeech['soundAt']> {
    return this.#recent.soundAt(...which);
  }

  /** Drops the audio after the end of the reply, except for what may come back as an echo. */
  fade(): void {
    this.#again = [];
    this.#recent.fade();
  }

  /** Drops all audio, once its echo is over, too. */
  forget(): void {
    this.#recent.forget();
  }

  /** Yields the slices of one chunk, each when it is due. `begins`: the phrase that begins with it. */
  async *pace(chunk: SpeechChunk, begins?: RestOfPhrase): AsyncIterable<SpeechSlice> {
    const { samples, sampleRate } = chunk.frame;
    const pieces = textPieces(chunk, this.#sentMs - this.#repeatedMs);
    const sliceSamples = Math.round((sliceMs / 1000) * sampleRate);
    this.#recent.begin(sampleRate);
    let told = 0;
    for (let offset = 0; offset < samples.length; offset += sliceSamples) {
      await this.#due();
      yield* this.#repeat(sampleRate);
      if (offset === 0 && begins !== undefined) this.#begin(begins);
      const phrase = this.#phraseToTell();
      const slice = samples.subarray(offset, offset + sliceSamples);
      const last = offset + sliceSamples >= samples.length;
      const mouth = offset === 0 ? mouthOf(chunk, this.#sentMs) : undefined;
      const block = this.#send(slice, sampleRate);
      const due = last ? pieces.length : pieces.findIndex((piece) => piece.startMs >= this.#sentMs - this.#repeatedMs);
      const words = pieces.slice(told, due < 0 ? pieces.length : due).map((piece) => later(piece, this.#repeatedMs));
      told += words.length;
      for (const word of words) this.#recent.note(word);
      const text = words.map((word) => word.text).join('');
      yield { samples: slice, block, sampleRate, text, words, ...(mouth !== undefined && { mouth }), ...phrase };
    }
  }

  /** Yields what must be said again after everything has been sent, if the reply is held just then. */
  async *rest(): AsyncIterable<SpeechSlice> {
    if (this.#hold === undefined && this.#again.length === 0) return;
    await this.#due();
    yield* this.#repeat(this.#recent.sampleRate);
  }

  async *#repeat(sampleRate: number): AsyncIterable<SpeechSlice> {
    while (this.#again.length > 0) {
      const [samples, ...others] = this.#again;
      if (samples === undefined) return;
      const phrase = this.#phraseToTell();
      this.#again = others;
      const block = this.#send(samples, sampleRate);
      this.#repeatedMs += (samples.length / sampleRate) * 1000;
      yield { samples, block, sampleRate, text: '', words: [], ...phrase };
      await this.#due();
    }
  }

  #begin({ saidMs, ...phrase }: RestOfPhrase): void {
    this.#phrase = { ...phrase, fromMs: this.#sentMs - this.#repeatedMs - saidMs };
    this.#phraseLaterMs = undefined;
  }

  /** Returns the phrase if its beginning has not been reported: it begins, or a part of it is about to be repeated. */
  #phraseToTell(): { readonly phrase?: SpokenPhrase } {
    const laterMs = this.#repeatedMs + this.#recent.lengthOf(this.#again);
    const told = this.#phraseLaterMs ?? -1;
    if (this.#phrase === undefined || Math.abs(laterMs - told) < 0.01) return {};
    this.#phraseLaterMs = laterMs;
    return { phrase: { ...this.#phrase, fromMs: this.#phrase.fromMs + laterMs } };
  }

  #send(samples: Float32Array, sampleRate: number): Int16Array {
    this.#sentMs += (samples.length / sampleRate) * 1000;
    const block = this.#blocks.of(samples);
    this.#recent.push(block);
    return block;
  }

  async #due(): Promise<void> {
    const { clock, signal, aheadMs } = this.#settings;
    for (;;) {
      signal.throwIfAborted();
      if (this.#hold !== undefined) {
        await untilOver(this.#hold.over, signal);
        continue;
      }
      // A reply that fell behind (a slow engine) starts a new count: silence already heard is not made up for.
      const playedMs = this.#startedMs === undefined ? 0 : clock.now() - this.#startedMs;
      if (this.#startedMs === undefined || playedMs > this.#sentMs) this.#startedMs = clock.now() - this.#sentMs;
      const waitMs = this.#sentMs + sliceMs - aheadMs - (clock.now() - this.#startedMs);
      // Less than the resolution of a clock.
      if (waitMs < 0.01) return;
      await clock.sleep(waitMs, signal);
    }
  }
}

async function untilOver(over: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([over, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function later(word: TimedWord, byMs: number): TimedWord {
  return byMs === 0 ? word : { ...word, startMs: word.startMs + byMs, endMs: word.endMs + byMs };
}

/** The mouth movement in a chunk that begins at `startMs` of its reply. */
export function mouthOf({ mouth, frame }: SpeechChunk, startMs: number): MouthSpan {
  const span = { startMs, endMs: startMs + durationMs(frame) };
  if (mouth === undefined) return { basis: 'level', ...span, visemes: [], phones: [] };
  const { basis, visemes, phones } = mouth;
  return {
    basis,
    ...span,
    visemes: visemes.map((shape) => ({ ...shape, startMs: shape.startMs + startMs })),
    phones: phones.map((phone) => ({ ...phone, startMs: phone.startMs + startMs, endMs: phone.endMs + startMs })),
  };
}

/** Cuts the chunk's text at its words; spaces stay with the word before, so that the joined pieces give the text. */
function textPieces(chunk: SpeechChunk, offsetMs: number): TimedWord[] {
  const words = chunk.words ?? [{ text: chunk.text, startMs: 0, endMs: durationMs(chunk.frame) }];
  const starts: number[] = [];
  let cursor = 0;
  for (const word of words) {
    const at = chunk.text.indexOf(word.text.trim(), cursor);
    starts.push(at < 0 ? cursor : at);
    cursor = at < 0 ? cursor : at + word.text.trim().length;
  }
  return words.map((word, index) => ({
    text: chunk.text.slice(index === 0 ? 0 : starts[index], starts[index + 1] ?? chunk.text.length),
    startMs: offsetMs + word.startMs,
    endMs: offsetMs + word.endMs,
  }));
}
