import type { MouthMovement, TimedPhone } from '../synthesizer.ts';
import { movementBetween, visemesOf, withPauses } from './visemes-of-phones.ts';

/** Movement of the mouth by the sounds that an engine places in its own audio. All times in ms from its start. */
export class ToldShapes {
  readonly #kind: 'sounds' | 'shapes';
  readonly #sounds: TimedPhone[] = [];

  /** `shapes`: each sound stands for all that have its shape, so none is passed on. */
  constructor(kind: 'sounds' | 'shapes') {
    this.#kind = kind;
  }

  /** Takes more sounds, in order; those of no length have no shape. */
  take(sounds: readonly TimedPhone[]): void {
    this.#sounds.push(...sounds.filter(({ startMs, endMs }) => endMs > startMs));
  }

  /** Returns the end of the last sound. */
  get knownMs(): number {
    return this.#sounds.at(-1)?.endMs ?? 0;
  }

  /** Returns the movement between two times; the mouth is at rest where no sound was placed. */
  between(fromMs: number, toMs: number): MouthMovement {
    const phones = withPauses(this.#sounds, Math.max(toMs, this.knownMs));
    const movement = movementBetween({ basis: 'engine', visemes: visemesOf(phones), phones }, fromMs, toMs);
    return this.#kind === 'sounds' ? movement : { ...movement, phones: [] };
  }
}
