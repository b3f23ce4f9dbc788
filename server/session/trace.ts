import type { Clock } from './clock.ts';

/** Stages of a turn in the order they normally happen. */
export const stages = ['endpoint', 'transcript', 'first_token', 'first_phrase', 'first_audio', 'heard'] as const;
export type Stage = (typeof stages)[number];

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
}

/** The latency ledger of one turn: wall-clock marks, each kept the first time it is made. */
export class Trace {
  readonly #clock: Clock;
  readonly #marks = new Map<Stage, number>();
  #startMs: number;
  #basis: Latency['basis'] = 'text';

  /** Counts from now until `speechEnded` says better. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  /** `wallMs`: when the last voiced sample arrived. */
  speechEnded(wallMs: number): void {
    this.#basis = 'speech_end';
    this.#startMs = wallMs;
  }

  /** Goes on from a turn's ledger, whose end came after this one was begun. */
  follow(turn: Trace): void {
    this.#startMs = turn.#startMs;
    this.#basis = turn.#basis;
    for (const [stage, atMs] of turn.#marks) this.#marks.set(stage, atMs);
  }

  mark(stage: Stage): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, this.#clock.now());
  }

  /** Marks a stage that happened `agoMs` ago. */
  markBefore(stage: Stage, agoMs: number): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, this.#clock.now() - agoMs);
  }

  latency(): Latency {
    const since = (stage: Stage): number | null => {
      const mark = this.#marks.get(stage);
      return mark === undefined ? null : Math.round((mark - this.#startMs) * 10) / 10;
    };
    return {
      basis: this.#basis,
      endpoint_ms: since('endpoint'),
      transcript_ms: since('transcript'),
      first_token_ms: since('first_token'),
      first_phrase_ms: since('first_phrase'),
      first_audio_ms: since('first_audio'),
      heard_ms: since('heard'),
    };
  }
}
