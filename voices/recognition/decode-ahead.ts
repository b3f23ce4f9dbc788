import type { AudioFrame } from '../audio.ts';
import { SpeechPiece } from './speech-piece.ts';

/** Urgency of a decoding. */
export type Urgency = 'partial' | 'final';

/** Result of decoding a piece of audio. */
export interface DecodedText {
  readonly text: string;
}

export interface DecodeAheadOptions<Hypothesis extends DecodedText> {
  /**
   * Decodes 16 kHz samples, of which it may take ownership. Aborting drops work that has not begun. It may report
   * partial text to `onText`.
   */
  decode(
    samples: Float32Array<ArrayBuffer>,
    urgency: Urgency,
    signal: AbortSignal,
    onText: (text: string) => void,
  ): Promise<Hypothesis>;
  /** Returns true if the words were really said; no others are shown. */
  believes(heard: Hypothesis): boolean;
  /** Returns true if a decoding would have to wait for others. */
  busy(): boolean;
  readonly signal: AbortSignal;
  /** Voiced audio between two partials, in milliseconds; default 500, `Infinity` for none. */
  readonly partialEveryMs?: number;
  /** Silence after which the utterance may be over, in milliseconds; default 64. */
  readonly aheadAfterMs?: number;
  /** False if `decode` makes its own retries. */
  readonly retries?: boolean;
}

/** Minimum voiced audio; less is a click, not a word. */
const leastVoicedMs = 96;
const usualPartialEveryMs = 500;
/** Silence after which the utterance may be over, usually and while other decodings wait. */
const usualAheadAfterMs = 64;
const aheadAfterBusyMs = 192;
/** Silence that ends a piece; later audio is decoded on its own. */
const pauseMs = 1_500;
/** Length from which a piece ends at the next pause for breath; the model is made for 30 seconds at most. */
const longPieceMs = 20_000;
const breathMs = 288;
/** Length at which a piece without such a pause is cut. */
const longestPieceMs = 28_000;

interface Ahead<Hypothesis> {
  /** Voiced audio when the decoding began; the result covers the whole piece while this is unchanged. */
  readonly voicedMs: number;
  readonly hypothesis: Promise<Hypothesis>;
  readonly drop: AbortController;
}

/**
 * Decodes one utterance while it runs: at intervals for partials, and in every pause that may be its end, so that the
 * final is ready when the end is certain. Holds the audio of one piece, 28 seconds at most.
 */
export class DecodeAhead<Hypothesis extends DecodedText> {
  readonly #options: DecodeAheadOptions<Hypothesis>;
  readonly #partialEveryMs: number;
  readonly #aheadAfterMs: number;
  readonly #piece = new SpeechPiece();
  readonly #heard: Hypothesis[] = [];
  #ahead: Ahead<Hypothesis> | undefined;
  #partialRuns = false;
  /** Voiced audio of the piece when a decoding last began, and that of the text shown last. */
  #begunMs = 0;
  #shownMs = 0;
  #current = '';
  #shown = '';
  #latest: Hypothesis | undefined;
  /** Text of the finished pieces. */
  readonly #sure: string[] = [];

  constructor(options: DecodeAheadOptions<Hypothesis>) {
    this.#options = options;
    this.#partialEveryMs = options.partialEveryMs ?? usualPartialEveryMs;
    this.#aheadAfterMs = options.aheadAfterMs ?? usualAheadAfterMs;
  }

  /** Takes audio in order. Resolves when there is room for more. */
  async push(frame: AudioFrame): Promise<void> {
    const blockSamples = 512;
    for (let start = 0; start < frame.samples.length; start += blockSamples) {
      this.#piece.push(frame.samples.subarray(start, start + blockSamples), frame.voiced);
      await this.#look();
    }
  }

  /** Hypothesis of the text shown last. */
  get latest(): Hypothesis | undefined {
    return this.#latest;
  }

  /** Returns the whole text so far if it changed since the last call; otherwise undefined. */
  takePartial(): string | undefined {
    const text = joinTexts([...this.#sure, this.#current]);
    if (text === '' || text === this.#shown) return undefined;
    this.#shown = text;
    return text;
  }

  /** Ends the audio; returns the hypothesis of each piece, none if there was no speech. */
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
    if (silentMs >= (busy ? Math.max(aheadAfterBusyMs, this.#aheadAfterMs) : this.#aheadAfterMs)) this.#decodeAhead();
    else if (silentMs === 0 && voicedMs - this.#begunMs >= this.#partialEveryMs && !busy) this.#decodePartial();
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

  /** Never rejects: a failed partial is ignored, because the final reports the failure. */
  async #showWhenDone(decoding: Promise<Hypothesis>, voicedMs: number): Promise<void> {
    const piece = this.#heard.length;
    const hypothesis = await decoding.catch(() => undefined);
    if (hypothesis === undefined || piece !== this.#heard.length || voicedMs < this.#shownMs) return;
    if (!this.#options.believes(hypothesis)) return;
    this.#shownMs = voicedMs;
    this.#current = hypothesis.text;
    this.#latest = hypothesis;
  }

  async #endPiece(): Promise<void> {
    this.#decodeAhead();
    const hypothesis = await this.#ahead?.hypothesis.catch((cause: unknown) => {
      if (this.#options.retries === false) throw cause;
      // A decoding that failed some time ago may succeed now.
      return this.#decode('final', this.#options.signal);
    });
    if (hypothesis === undefined) return;
    this.#piece.clear();
    this.#begin(hypothesis);
  }

  async #cutPiece(): Promise<void> {
    this.#ahead?.drop.abort();
    const first = this.#piece.takeFirst();
    this.#begin(await this.#options.decode(first, 'final', this.#options.signal, () => undefined));
  }

  #begin(heard: Hypothesis): void {
    this.#heard.push(heard);
    if (this.#options.believes(heard)) this.#sure.push(heard.text);
    this.#ahead = undefined;
    this.#begunMs = 0;
    this.#shownMs = 0;
    this.#current = '';
  }

  #decode(urgency: Urgency, signal: AbortSignal): Promise<Hypothesis> {
    const piece = this.#heard.length;
    const { voicedMs } = this.#piece;
    return this.#options.decode(this.#piece.speech(), urgency, signal, (text) => {
      const isOld = signal.aborted || piece !== this.#heard.length || voicedMs < this.#shownMs;
      // Shown text never gets shorter.
      if (!isOld && text.length > this.#current.length) this.#current = text;
    });
  }
}

/** Joins texts of pieces with spaces between them, except between characters of Chinese or Japanese. */
export function joinTexts(texts: readonly string[]): string {
  const filled = texts.map((text) => text.trim()).filter((text) => text !== '');
  return filled.reduce(
    (joined, text) => `${joined}${spaceless.test(joined.slice(-1) + text.slice(0, 1)) ? '' : ' '}${text}`,
    filled.shift() ?? '',
  );
}

const spaceless = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。，、！？：；「」『』]{2}$/u;
