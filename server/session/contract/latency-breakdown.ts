/**
 * Who can own a part of the wait for a reply, in the order of their turns.
 * - `arrival`: the silence after the speech came in later than it was spoken (network, a client that had stopped sending)
 * - `silence`: silence that had to pass before the turn counted as over, or, under push to talk, that passed before the commit
 * - `vad`: the last of it waited for the voice detector
 * - `recognizer`: the words were not final yet
 * - `client`: the reply had not been asked for yet
 * - `mind`: nothing was answered yet
 * - `phrase`: what was answered was no phrase yet
 * - `synthesizer`: the phrase had no sound yet
 * - `pacing`: the sound (of written replies: the text) had not been sent yet
 * - `delivery`: what had been sent was not heard yet: network, jitter buffer, loudspeaker
 */
export const owners = [
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
export type Owner = (typeof owners)[number];

/** Milliseconds of each owner, to a tenth; null for those that had no part in the turn. */
export type Shares = Readonly<Record<Owner, number | null>>;

/**
 * Shares the wait from 0 to `untilMs` among those that took part: each owns what lies between the end of those before it and
 * its own, so one that was done before them owns 0. What is left belongs to the last. The shares add up to `untilMs`, rounded
 * to a tenth.
 */
export function shareOut(ends: Readonly<Partial<Record<Owner, number>>>, untilMs: number): Shares {
  const until = tenths(untilMs);
  const last = owners.findLast((owner) => ends[owner] !== undefined);
  let reached = 0;
  const share = (owner: Owner): number | null => {
    const end = ends[owner];
    if (end === undefined) return null;
    const from = reached;
    reached = owner === last ? until : Math.min(until, Math.max(reached, tenths(end)));
    return (reached - from) / 10;
  };
  return Object.fromEntries(owners.map((owner) => [owner, share(owner)])) as Record<Owner, number | null>;
}

/** A wait to a tenth of a millisecond; what came before it began took none of it. */
export function tenths(ms: number): number {
  return Math.max(0, Math.round(ms * 10));
}
