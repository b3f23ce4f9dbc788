import type { Clock } from './clock.ts';

/** Stages of a turn, in their normal order. */
type Stage =
  | 'endpoint'
  | 'transcript'
  /** The reply was requested, by the client or by the turn itself. */
  | 'asked'
  | 'first_token'
  | 'first_phrase'
  /** The synthesizer's first audio. */
  | 'first_speech'
  | 'first_audio'
  | 'heard';

/** Milliseconds from the start of the wait to each stage; null if the turn had no such stage. */
export interface Latency {
  /** Start of the wait: the arrival of the last sample of speech, or the request for a typed turn. */
  readonly basis: 'speech_end' | 'text';
  readonly endpoint_ms: number | null;
  readonly transcript_ms: number | null;
  readonly first_token_ms: number | null;
  readonly first_phrase_ms: number | null;
  readonly first_audio_ms: number | null;
  /** The first audio played at the client; null if the client does not report playback. */
  readonly heard_ms: number | null;
  /** Latency breakdown; if the turn ended without audio or text, the wait until that end. */
  readonly owners: LatencyBreakdown;
  /** Sum of the breakdown. */
  readonly total_ms: number;
}

/** Timing of the audio on which the endpoint was decided. */
interface Endpointing {
  /** Wall time at which the deciding audio had arrived. */
  readonly decidedFromMs: number;
  /** Silence until then, in milliseconds of audio. */
  readonly silenceMs: number;
}

/** The component at work until each stage is reached. */
const workers: readonly (readonly [Stage, LatencyComponent])[] = [
  ['endpoint', 'vad'],
  ['transcript', 'recognizer'],
  ['asked', 'client'],
  ['first_token', 'mind'],
  ['first_phrase', 'phrase'],
  ['first_speech', 'synthesizer'],
  ['first_audio', 'pacing'],
  ['heard', 'delivery'],
];

/** The turn timings of one turn: wall-clock marks, each kept the first time it is made. */
export class TurnTimings {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #marks = new Map<Stage, number>();
  #startMs: number;
  #basis: Latency['basis'] = 'text';
  #endpointing: Endpointing | undefined;

  /** Counts from now until `speechEnded` gives a better start. */
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

  /** Continues the timings of a turn whose end came after this trace was started. */
  follow(turn: TurnTimings): void {
    this.#startMs = turn.#startMs;
    this.#basis = turn.#basis;
    this.#endpointing = turn.#endpointing;
    for (const [stage, atMs] of turn.#marks) this.#marks.set(stage, atMs);
  }

  mark(stage: Stage): void {
    if (!this.#marks.has(stage)) this.#marks.set(stage, this.#clock.now());
  }

  /** Marks the reply as heard since `agoMs`; not before it was sent, even if the client reports that. */
  heardSince(agoMs: number): void {
    const sentMs = this.#marks.get('first_audio') ?? -Infinity;
    if (!this.#marks.has('heard')) this.#marks.set('heard', Math.max(sentMs, this.#clock.now() - agoMs));
  }

  /** Milliseconds since the wait began. */
  get tookMs(): number {
    return this.#clock.now() - this.#startMs;
  }

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

  #wait(): { readonly ends: Readonly<Partial<Record<LatencyComponent, number>>>; readonly untilMs: number } {
    const ends: Partial<Record<LatencyComponent, number>> = {};
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

  #splitEndpointing(ends: Partial<Record<LatencyComponent, number>>, endpointMs: number): void {
    const { decidedFromMs, silenceMs } = this.#endpointing ?? { decidedFromMs: Infinity, silenceMs: Infinity };
    ends.silence = Math.min(endpointMs, decidedFromMs - this.#startMs);
    ends.arrival = ends.silence - silenceMs;
  }

  /** Returns the component at work on a turn that has produced nothing yet. */
  #atWork(): LatencyComponent {
    const begun = workers.findLastIndex(([stage]) => stage !== 'asked' && this.#marks.has(stage));
    const next = workers[begun + 1]?.[1] ?? 'pacing';
    const isAsked = next === 'client' || (next === 'vad' && this.#basis === 'text');
    return isAsked ? 'mind' : next;
  }
}

/**
 * The components of a reply's latency, in the order of their turns.
 *
 * - `arrival`: the silence after the speech arrived later than it was spoken (network, a client
 *   that had stopped sending)
 * - `silence`: silence that had to pass before the turn counted as over, or, under push to talk,
 *   that passed before the commit
 * - `vad`: the last of it waited for the VAD
 * - `recognizer`: the transcript was not final yet
 * - `client`: the reply had not been requested yet
 * - `mind`: the LLM, or another reply source, had not answered yet
 * - `phrase`: the answer had no complete phrase yet
 * - `synthesizer`: the phrase had no audio yet
 * - `pacing`: the audio (of written replies: the text) had not been sent yet
 * - `delivery`: what had been sent was not heard yet: network, jitter buffer, loudspeaker
 */
export const latencyComponents = [
  'arrival',
  'silence',
  'vad',
  'recognizer',
  'client',
  'mind',
  'phrase',
  'synthesizer',
  'pacing',
  'delivery',
] as const;
export type LatencyComponent = (typeof latencyComponents)[number];

/** Milliseconds of each component, to a tenth; null for those that took no time in the turn. */
export type LatencyBreakdown = Readonly<Record<LatencyComponent, number | null>>;

/**
 * Splits the latency from 0 to `untilMs` among the components that took part: each gets the time from the end of those
 * before it to its own; the last gets the rest. The shares add up to `untilMs`, rounded to a tenth.
 */
export function shareOut(ends: Readonly<Partial<Record<LatencyComponent, number>>>, untilMs: number): LatencyBreakdown {
  const until = tenths(untilMs);
  const last = latencyComponents.findLast((owner) => ends[owner] !== undefined);
  let reached = 0;
  const share = (owner: LatencyComponent): number | null => {
    const end = ends[owner];
    if (end === undefined) return null;
    const from = reached;
    reached = owner === last ? until : Math.min(until, Math.max(reached, tenths(end)));
    return (reached - from) / 10;
  };
  return Object.fromEntries(latencyComponents.map((owner) => [owner, share(owner)])) as Record<
    LatencyComponent,
    number | null
  >;
}

/** Converts a latency to tenths of a millisecond; a negative one counts as 0. */
export function tenths(ms: number): number {
  return Math.max(0, Math.round(ms * 10));
}
