import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  initialTurn,
  step,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
} from '../../../../server/session/turns/turn.ts';

const policies: TurnPolicy[] = [true, false].flatMap((interrupts) => [
  { settleMs: 500, bargeInMs: 160, interrupts },
  { settleMs: 500, bargeInMs: 400, interrupts, wary: true, idleMs: 3_000 },
  {
    settleMs: 700,
    bargeInMs: 400,
    interrupts,
    patience: { leastMs: 200, mostMs: 2_500, threshold: 0.8 },
    draftLeadMs: 600,
  },
]);

/** What the outside must be able to count on, whatever happens. */
class Promises {
  #open = false;
  #held = false;
  #draft = false;
  #overheard = false;

  keep(action: TurnAction): void {
    switch (action.type) {
      case 'utterance-open':
        expect(this.#open).toBe(false);
        this.#open = true;
        this.#overheard = false;
        return;
      case 'utterance-close':
        expect(this.#open).toBe(true);
        this.#open = false;
        this.#draft = false;
        return;
      case 'reply-hold':
        expect(this.#held).toBe(false);
        this.#held = true;
        return;
      case 'reply-resume':
        expect(this.#held).toBe(true);
        this.#held = false;
        return;
      case 'reply-abort':
        this.#held = false;
        return;
      case 'draft':
        expect(this.#open).toBe(true);
        this.#draft = true;
        return;
      case 'draft-drop':
        expect(this.#draft).toBe(true);
        this.#draft = false;
        return;
      case 'overlap-open':
        expect(this.#overheard).toBe(false);
        this.#overheard = true;
        return;
      case 'overlap-close':
        expect(this.#overheard).toBe(true);
        this.#overheard = false;
        return;
      default:
    }
  }

  /** What the outside does by itself. */
  note(event: TurnEvent): void {
    if (event.type === 'utterance-taken') this.#open = false;
    if (event.type === 'reply-end') this.#held = false;
  }

  check(phase: string): void {
    expect(this.#open).toBe(phase === 'hearing' || phase === 'settling');
    expect(this.#held && phase !== 'overlapping').toBe(false);
    expect(this.#overheard).toBe(phase === 'overlapping');
  }
}

const events = fc.array(
  fc.oneof(
    fc.constantFrom('speech-start', 'speech-end', 'clock').map((type) => ({ type, gapMs: 40, share: 0 })),
    fc.constantFrom('reply-start', 'reply-end', 'utterance-taken').map((type) => ({ type, gapMs: 0, share: 0 })),
    fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({ type: 'pause-judged', gapMs: 0, share })),
    fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({ type: 'overlap-judged', gapMs: 0, share })),
    fc.nat(900).map((gapMs) => ({ type: 'clock', gapMs, share: 0 })),
  ),
  { maxLength: 200 },
);

it('keeps the turn machine’s invariants for any sequence of events', () => {
  const whateverHappens = fc.property(events, fc.constantFrom(...policies), (script, policy) => {
    const promises = new Promises();
    let state = initialTurn;
    let atMs = 0;
    for (const { type, gapMs, share } of script) {
      atMs += gapMs;
      const event = {
        type,
        atMs,
        voicedMs: atMs,
        aloneMs: atMs,
        completeness: share,
        is: share > 0.5 ? 'words' : 'aside',
        sinceMs: atMs - 400 * share,
        untilMs: atMs,
      } as TurnEvent;
      promises.note(event);
      const next = step(state, event, policy);
      state = next.state;
      for (const action of next.actions) promises.keep(action);
      promises.check(state.phase);
    }
  });
  expect(() => fc.assert(whateverHappens, { numRuns: 1_000 })).not.toThrow();
});
