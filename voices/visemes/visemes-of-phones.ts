import type { MouthMovement, TimedPhone, TimedViseme } from '../synthesizer.ts';
import { diphthongTurn, segmentsOf, type Segment } from './phone-table.ts';

/** The lips stay closed for at least this long before they open for p, b or m. */
const leastClosureMs = 40;

/** A gap between sounds that is longer closes the mouth. */
const pauseMs = 60;

/** A shorter shape cannot be seen, and the next takes its place. */
const leastShapeMs = 1;

/**
 * Returns the mouth shapes for sounds that follow each other without gaps. The first begins at 0, each holds until
 * the next, and neighbours differ. A closure shorter than 40 ms begins earlier, up to the middle of the shape before.
 */
export function visemesOf(phones: readonly TimedPhone[]): TimedViseme[] {
  const made: TimedViseme[] = [{ viseme: 'sil', startMs: 0 }];
  let endMs = 0;
  for (const phone of phones) {
    for (const shape of shapesOf(phone)) {
      let startMs = shape.startMs;
      const last = made.at(-1);
      if (last !== undefined && startMs - last.startMs < leastShapeMs) {
        startMs = last.startMs;
        made.pop();
      }
      const before = made.at(-1);
      if (shape.viseme === before?.viseme && shape.weight === before.weight) continue;
      made.push({ ...shape, startMs });
    }
    endMs = phone.endMs;
  }
  return withClosures(made, endMs);
}

function shapesOf({ sound, startMs, endMs }: TimedPhone): TimedViseme[] {
  if (endMs <= startMs) return [];
  const segments = segmentsOf(sound);
  if (segments.length === 0) return [{ viseme: 'sil', startMs }];
  const shares = sharesOf(segments);
  return segments.map(({ shape: [viseme, weight] }, index) => ({
    viseme,
    startMs: startMs + (shares[index] ?? 0) * (endMs - startMs),
    ...(weight !== undefined && { weight }),
  }));
}

/** Returns where in the sound each of its symbols begins, from 0 to 1. */
function sharesOf(segments: readonly Segment[]): number[] {
  const isDiphthong = segments.length === 2 && segments.every(({ isVowel }) => isVowel);
  return segments.map((_, index) => (isDiphthong ? index * diphthongTurn : index / segments.length));
}

function withClosures(shapes: readonly TimedViseme[], endMs: number): TimedViseme[] {
  return shapes.map((shape, index) => {
    const before = shapes[index - 1];
    if (shape.viseme !== 'PP' || before === undefined) return shape;
    const missingMs = leastClosureMs - ((shapes[index + 1]?.startMs ?? endMs) - shape.startMs);
    if (missingMs <= 0) return shape;
    return { ...shape, startMs: shape.startMs - Math.min(missingMs, (shape.startMs - before.startMs) / 2) };
  });
}

/** Returns the movement from one time to another, as the movement of a sound of its own. */
export function movementBetween(
  { basis, visemes, phones }: MouthMovement,
  fromMs: number,
  toMs = Infinity,
): MouthMovement {
  const isWithin = (startMs: number, endMs: number): boolean => startMs < toMs && endMs > fromMs;
  const shapes = visemes.filter(({ startMs }, at) => isWithin(startMs, visemes[at + 1]?.startMs ?? Infinity));
  const sounds = phones.filter(({ startMs, endMs }) => isWithin(startMs, endMs));
  return {
    basis,
    visemes: shapes.map((shape) => ({ ...shape, startMs: Math.max(0, shape.startMs - fromMs) })),
    phones: sounds.map((phone) => ({
      ...phone,
      startMs: Math.max(0, phone.startMs - fromMs),
      endMs: Math.min(phone.endMs, toMs) - fromMs,
    })),
  };
}

/** Fills the gaps between sounds: a long one is a pause, a short one belongs to the sound before it. */
export function withPauses(told: readonly TimedPhone[], untilMs: number): TimedPhone[] {
  const phones: TimedPhone[] = [];
  let atMs = 0;
  for (const [index, phone] of told.entries()) {
    const startMs = Math.max(atMs, phone.startMs);
    if (startMs > atMs) phones.push({ sound: '', startMs: atMs, endMs: startMs });
    const nextMs = told[index + 1]?.startMs ?? untilMs;
    const endMs = Math.max(startMs, nextMs - phone.endMs < pauseMs ? nextMs : phone.endMs);
    phones.push({ sound: phone.sound, startMs, endMs });
    atMs = endMs;
  }
  if (untilMs > atMs) phones.push({ sound: '', startMs: atMs, endMs: untilMs });
  return phones;
}
