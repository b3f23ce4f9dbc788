import type { Clock } from './clock.ts';
import { shareOut, tenths, type Owner, type Shares } from './latency-breakdown.ts';

/** Stages of a turn in the order they normally happen. */
type Stage =
  | 'endpoint'
  | 'transcript'
  /** The reply was asked for, by the client or by the turn itself. */
  | 'asked'
  | 'first_token'
  | 'first_phrase'
  /** The synthesizer's first sound. */
  | 'first_speech'
  | 'first_audio'
  | 'heard';

/** Milliseconds from the start of the wait to each stage; null where the turn had no such stage. */
export interface Latency {
  /** What the wait is counted from: the arrival of the last sample of speech, or the request for a typed turn. */
  readonly basis: 'speech_end' | 'text';
  readonly endpoint_ms: number | null;
  readonly transcript_ms: number | null;
  readonly first_token_ms: number | null;
  readonly first_phrase_ms: number | null;
  readonly first_audio_ms: number | null;
  /** The first sound at the client's ear; null where the client does not tell what it has played. */
  readonly heard_ms: number | null;
  /** The whole wait, shared out; where the turn ended without a sound or a word, the wait until that end. */
  readonly owners: Shares;
  /** What the owners add up to. */
  readonly total_ms: number;
}

/** What came before the decision that the user had finished. */
interface Endpointing {
  /** Wall time at which what decided had come in. */
  readonly decidedFromMs: number;
  /** Silence there was until then, in milliseconds of sound. */
  readonly silenceMs: number;
}

/** Who is at work until a stage is reached. */
const workers: readonly (readonly [Stage, Owner])[] = [
  ['endpoint', 'vad'],
  ['transcript', 'recognizer'],
  ['asked', 'client'],
  ['first_token', 'mind'],
  ['first_phrase', 'phrase'],
  ['first_speech', 'synthesizer'],
  ['first_audio', 'pacing'],
  ['heard', 'delivery'],
];

/** The latency ledger of one turn: wall-clock marks, each kept the first time it is made. */
export class Trace {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #marks = new Map<Stage, number>();
  #startMs: number;
  #basis: Latency['basis'] = 'text';
  #endpointing: Endpointing | undefined;

  /** Counts from now until `speechEnded` says better. */
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  /** `wallMs`: when the last voiced sample arrived. Without `endpointing`, all until the endpoint counts as silence. */
  speechEnded(wallMs: number, endpointing?: Endpointing): void {
    this.#basis = 'speech_end';
    this.#startMs = wallMs;
    this.#endpointing = endpointing;
  }

  /** Goes on from a turn's ledger, whose end came after this one was begun. */
  follow(turn: Trace): void {
    this.#startMs = turn.#startMs;
    this.#basis = turn.#basis;
    this.#endpointing = turn.#endpointing;
    for (const [stage, atMs] of turn.#marks) this.#marks.set(stage, atMs);
  }

  mark(stage: Stage): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, this.#clock.now());
  }

  /** The reply began to be heard `agoMs` ago; not before it was sent, whatever who plays it counts. */
  heardSince(agoMs: number): void {
    const sentMs = this.#marks.get('first_audio') ?? -Infinity;
    if (!this.#marks.has('heard')) this.#marks.set('heard', Math.max(sentMs, this.#clock.now() - agoMs));
  }

  /** Milliseconds since the wait began. */
  get tookMs(): number {
    return this.#clock.now() - this.#startMs;
  }

  /** The ledger of a turn that ends now. */
  latency(): Latency {
    const since = (stage: Stage): number | null => {
      const mark = this.#marks.get(stage);
      return mark === undefined ? null : Math.round((mark - this.#startMs) * 10) / 10;
    };
    const { ends, untilMs } = this.#wait();
    return {
      basis: this.#basis,
      endpoint_ms: since('endpoint'),
      transcript_ms: since('transcript'),
      first_token_ms: since('first_token'),
      first_phrase_ms: since('first_phrase'),
      first_audio_ms: since('first_audio'),
      heard_ms: since('heard'),
      owners: shareOut(ends, untilMs),
      total_ms: tenths(untilMs) / 10,
    };
  }

  /** When each owner was done, and how long the whole took. */
  #wait(): { readonly ends: Readonly<Partial<Record<Owner, number>>>; readonly untilMs: number } {
    const ends: Partial<Record<Owner, number>> = {};
    for (const [stage, owner] of workers) {
      const mark = this.#marks.get(stage);
      if (mark !== undefined) ends[owner] = mark - this.#startMs;
    }
    if (ends.vad !== undefined) this.#splitEndpointing(ends, ends.vad);
    if (ends.pacing !== undefined) return { ends, untilMs: Math.max(ends.pacing, ends.delivery ?? 0) };
    const untilMs = this.tookMs;
    ends[this.#atWork()] = untilMs;
    return { ends, untilMs };
  }

  #splitEndpointing(ends: Partial<Record<Owner, number>>, endpointMs: number): void {
    const { decidedFromMs, silenceMs } = this.#endpointing ?? { decidedFromMs: Infinity, silenceMs: Infinity };
    ends.silence = Math.min(endpointMs, decidedFromMs - this.#startMs);
    ends.arrival = ends.silence - silenceMs;
  }

  /** Who is at work on a turn that has brought nothing yet. */
  #atWork(): Owner {
    const begun = workers.findLastIndex(([stage]) => stage !== 'asked' && this.#marks.has(stage));
    const next = workers[begun + 1]?.[1] ?? 'pacing';
    const isAsked = next === 'client' || (next === 'vad' && this.#basis === 'text');
    return isAsked ? 'mind' : next;
  }
}
