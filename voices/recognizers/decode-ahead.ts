import type { AudioFrame } from '../audio.ts';
import { judge, type Hypothesis } from './hypothesis.ts';
import { SpeechPiece } from './speech-piece.ts';

/** How urgent a decoding is. */
export type Urgency = 'partial' | 'final';

export interface DecodeAheadOptions {
  /** Decodes 16 kHz samples, which it may take over. Aborting drops what has not begun. */
  decode(samples: Float32Array<ArrayBuffer>, urgency: Urgency, signal: AbortSignal): Promise<Hypothesis>;
  /** True where a decoding would have to wait for others. */
  busy(): boolean;
  readonly signal: AbortSignal;
}

/** Less voiced audio is a click, not a word. */
const leastVoicedMs = 96;
/** Voiced audio between two partials. */
const partialEveryMs = 500;
/** Silence after which the utterance may be over, and when others wait. */
const aheadAfterMs = 64;
const aheadAfterBusyMs = 192;
/** Silence that ends a piece; what comes after is decoded on its own. */
const pauseMs = 1_500;
/** A piece this long ends at the next breath; the model is made for 30 seconds at most. */
const longPieceMs = 20_000;
const breathMs = 288;
/** Where no breath comes, it is cut. */
const longestPieceMs = 28_000;

interface Ahead {
  /** The result is of the whole piece as long as its `voicedMs` is this. */
  readonly voicedMs: number;
  readonly hypothesis: Promise<Hypothesis>;
  readonly drop: AbortController;
}

/**
 * Listens to one utterance and has it decoded while it runs: for partials every now and then, and whenever a pause may be
 * its end, so that the final is there when the end is certain. Holds the audio of one piece, 28 seconds at most.
 */
export class DecodeAhead {
  readonly #options: DecodeAheadOptions;
  readonly #piece = new SpeechPiece();
  readonly #heard: Hypothesis[] = [];
  #ahead: Ahead | undefined;
  #partialRuns = false;
  /** What `voicedMs` was when a decoding last began, and where the text shown last comes from. */
  #begunMs = 0;
  #shownMs = 0;
  #current = '';
  #shown = '';
  /** The text of the pieces that are done. */
  readonly #sure: string[] = [];

  constructor(options: DecodeAheadOptions) {
    this.#options = options;
  }

  /** Takes audio in order. Settles when there is room for more. */
  async push(frame: AudioFrame): Promise<void> {
    const blockSamples = 512;
    for (let start = 0; start < frame.samples.length; start += blockSamples) {
      this.#piece.push(frame.samples.subarray(start, start + blockSamples), frame.voiced);
      await this.#look();
    }
  }

  /** The whole text so far, where it is news and good enough to show. */
  takePartial(): string | undefined {
    const text = [...this.#sure, this.#current].join(' ').trim();
    if (text === '' || text === this.#shown) return undefined;
    this.#shown = text;
    return text;
  }

  /** The audio is over: what was heard, piece by piece. None where nobody spoke. */
  async finish(): Promise<readonly Hypothesis[]> {
    this.#piece.flush();
    if (this.#piece.voicedMs >= leastVoicedMs) await this.#endPiece();
    return this.#heard;
  }

  async #look(): Promise<void> {
    const { voicedMs, silentMs, durationMs } = this.#piece;
    if (voicedMs < leastVoicedMs) {
      if (silentMs >= pauseMs) this.#piece.clear();
      return;
    }
    const busy = this.#options.busy();
    if (silentMs >= (busy ? aheadAfterBusyMs : aheadAfterMs)) this.#decodeAhead();
    else if (silentMs === 0 && voicedMs - this.#begunMs >= partialEveryMs && !busy) this.#decodePartial();
    if (silentMs >= pauseMs || (durationMs >= longPieceMs && silentMs >= breathMs)) await this.#endPiece();
    else if (durationMs >= longestPieceMs) await this.#cutPiece();
  }

  #decodePartial(): void {
    if (this.#partialRuns) return;
    this.#partialRuns = true;
    const { voicedMs } = this.#piece;
    this.#begunMs = voicedMs;
    const decoding = this.#decode('partial', this.#options.signal);
    void this.#showWhenDone(decoding, voicedMs).then(() => (this.#partialRuns = false));
  }

  #decodeAhead(): void {
    const { voicedMs } = this.#piece;
    if (this.#ahead?.voicedMs === voicedMs) return;
    this.#ahead?.drop.abort();
    this.#begunMs = voicedMs;
    const drop = new AbortController();
    const hypothesis = this.#decode('final', AbortSignal.any([this.#options.signal, drop.signal]));
    void this.#showWhenDone(hypothesis, voicedMs);
    this.#ahead = { voicedMs, hypothesis, drop };
  }

  /** Never rejects: a partial that fails is not missed, and the final will tell. */
  async #showWhenDone(decoding: Promise<Hypothesis>, voicedMs: number): Promise<void> {
    const piece = this.#heard.length;
    const hypothesis = await decoding.catch(() => undefined);
    if (hypothesis === undefined || piece !== this.#heard.length || voicedMs < this.#shownMs) return;
    if (judge(hypothesis) !== 'words') return;
    this.#shownMs = voicedMs;
    this.#current = hypothesis.text;
  }

  async #endPiece(): Promise<void> {
    this.#decodeAhead();
    // What failed some time ago may succeed now.
    const hypothesis = await this.#ahead?.hypothesis.catch(() => this.#decode('final', this.#options.signal));
    if (hypothesis === undefined) return;
    this.#piece.clear();
    this.#begin(hypothesis);
  }

  async #cutPiece(): Promise<void> {
    this.#ahead?.drop.abort();
    const first = this.#piece.takeFirst();
    this.#begin(await this.#options.decode(first, 'final', this.#options.signal));
  }

  #begin(heard: Hypothesis): void {
    this.#heard.push(heard);
    if (judge(heard) === 'words') this.#sure.push(heard.text);
    this.#ahead = undefined;
    this.#begunMs = 0;
    this.#shownMs = 0;
    this.#current = '';
  }

  #decode(urgency: Urgency, signal: AbortSignal): Promise<Hypothesis> {
    return this.#options.decode(this.#piece.speech(), urgency, signal);
  }
}
