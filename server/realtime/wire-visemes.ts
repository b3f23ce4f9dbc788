import type { Viseme } from '../../voices/synthesizer.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import type { MouthSpan } from '../session/contract/events.ts';

/** The mouth movement in an event: samples of the item, each shape until the next, the last until `until`. */
export interface WireVisemes {
  readonly basis: MouthSpan['basis'];
  readonly from: number;
  /** Absent if only the loudness is known: until further notice. */
  readonly until?: number;
  readonly visemes: ([number, Viseme] | [number, Viseme, number])[];
  /** IPA of each sound; a pause is empty. */
  readonly phones?: [number, string][];
}

/** Position in an item in samples of the wire. */
export function wireSamplesOf(ms: number): number {
  return Math.round((ms * wireSampleRate) / 1000);
}

/** Encodes a stretch that begins where the last one ended, at `toldUntil`; undefined if that had no end. */
export function wireVisemes(span: MouthSpan, toldUntil: number | undefined, withPhones: boolean): WireVisemes {
  const { basis } = span;
  const startsAt = wireSamplesOf(span.startMs);
  // Milliseconds that were added up may round to the next sample.
  const from = toldUntil !== undefined && Math.abs(startsAt - toldUntil) <= 1 ? toldUntil : startsAt;
  if (basis === 'level') return { basis, from, visemes: [] };
  const until = wireSamplesOf(span.endMs);
  const at = (ms: number): number => Math.min(Math.max(wireSamplesOf(ms), from), until);
  const visemes = span.visemes.map(({ viseme, startMs, weight }): [number, Viseme] | [number, Viseme, number] =>
    weight === undefined ? [at(startMs), viseme] : [at(startMs), viseme, weight],
  );
  const phones = span.phones.map(({ startMs, sound }): [number, string] => [at(startMs), sound]);
  return { basis, from, until, visemes, ...(withPhones && { phones }) };
}
