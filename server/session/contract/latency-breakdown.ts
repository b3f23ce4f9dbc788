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

/** Milliseconds of each component, to a tenth; null for those that had no part in the turn. */
export type LatencyBreakdown = Readonly<Record<LatencyComponent, number | null>>;

/**
 * Splits the latency from 0 to `untilMs` among the components that took part: each gets the time between the end of
 * those before it and its own end, so one that ended before them gets 0. The rest belongs to the last. The shares add
 * up to `untilMs`, rounded to a tenth.
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
