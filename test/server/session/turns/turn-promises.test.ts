import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Utterance } from '../../../../server/session/input/utterance.ts';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';

const policies: TurnPolicy[] = [true, false].flatMap((interrupts) => [
  { settleMs: 500, bargeInMs: 160, interrupts },
  { settleMs: 500, bargeInMs: 400, interrupts, idleMs: 3_000 },
  {
    settleMs: 700,
    bargeInMs: 400,
    interrupts,
    patience: { leastMs: 200, mostMs: 2_500, threshold: 0.8 },
    draftLeadMs: 600,
    nodEveryMs: 300,
  },
]);

/** Invariants of the machine's actions, whatever happens. */
class Promises {
  readonly #policy: TurnPolicy;
  #open = false;
  #held = false;
  #draft = false;
  #overheard = false;
  #echoes = false;
  #overlapped = false;
  #unattributed: Utterance | undefined;
  #last = initialTurn;

  constructor(policy: TurnPolicy) {
    this.#policy = policy;
  }

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
      case 'pause':
        return expect(this.#open).toBe(true);
      case 'reply-hold':
        expect(this.#policy.interrupts).toBe(true);
        expect(this.#last).toMatchObject({ phase: 'replying', wary: false });
        expect(this.#held).toBe(false);
        this.#held = true;
        return;
      case 'reply-resume':
        expect(this.#held).toBe(true);
        this.#held = false;
        return;
      case 'reply-abort':
        expect(this.#policy.interrupts).toBe(true);
        expect(this.#open).toBe(true);
        this.#held = false;
        return;
      case 'draft':
        expect(this.#policy.draftLeadMs).toBeDefined();
        expect(this.#open).toBe(true);
        this.#draft = true;
        return;
      case 'draft-drop':
        expect(this.#draft).toBe(true);
        this.#draft = false;
        return;
      case 'nod':
        expect(this.#policy.nodEveryMs).toBeDefined();
        return expect(this.#open).toBe(true);
      case 'overlap-open':
        expect(this.#overheard).toBe(false);
        this.#overheard = true;
        this.#overlapped = true;
        return;
      case 'overlap-attribute':
        return expect(action.utterance).toBe(this.#unattributed);
      case 'overlap-drop':
        return expect(this.#overheard).toBe(true);
      case 'overlap-close':
        expect(this.#overheard).toBe(true);
        this.#overheard = false;
        return;
      case 'speak-up':
        expect(this.#policy.idleMs).toBeDefined();
        return expect(this.#open).toBe(false);
    }
  }

  /** Applies what the rest of the session does by itself. */
  note(event: TurnEvent): void {
    if (event.type === 'utterance-taken') this.#open = false;
    if (event.type === 'overlap-unattributed') this.#unattributed = event.utterance;
    if (event.type === 'overlap-judged') this.#unattributed = undefined;
    if (event.type === 'echo-heard') this.#echoes = true;
    if (event.type !== 'reply-end') return;
    this.#held = false;
    this.#echoes &&= this.#overlapped;
    this.#overlapped = false;
  }

  check(state: TurnState): void {
    const { phase } = state;
    const isNewReply = phase === 'replying' && ['listening', 'settling'].includes(this.#last.phase);
    expect(state.echoes).toBe(this.#echoes);
    if (isNewReply) expect(state.wary).toBe(this.#echoes);
    this.#last = state;
    expect(this.#open).toBe(phase === 'hearing' || phase === 'settling');
    expect(this.#held && phase !== 'overlapping').toBe(false);
    expect(this.#overheard).toBe(phase === 'overlapping');
  }
}

/** An event before its times are known: `share`, 0 to 1, stands for what the event says. */
interface Draw {
  readonly type: TurnEvent['type'];
  readonly gapMs: number;
  readonly share: number;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const drawOf = (gapMs: fc.Arbitrary<number>, ...types: TurnEvent['type'][]): fc.Arbitrary<Draw> =>
  fc.record({ type: fc.constantFrom(...types), gapMs, share });

const draws = fc.array(
  fc.oneof(
    drawOf(fc.constant(40), 'speech-start', 'speech-end', 'clock'),
    drawOf(fc.constant(0), 'reply-start', 'reply-end', 'utterance-taken', 'user-active'),
    drawOf(fc.constant(0), 'pause-judged', 'overlap-judged', 'overlap-unattributed', 'echo-found', 'echo-heard'),
    drawOf(fc.nat(900), 'clock'),
  ),
  { maxLength: 200 },
);

const utterances = ['one', 'two', 'three', 'four'].map((id) => ({ id }) as Utterance);

function eventOf({ type, share: says }: Draw, atMs: number): TurnEvent {
  switch (type) {
    case 'clock':
      return { type, atMs, voicedMs: atMs, newMs: says > 0.5 ? 400 * says : 0, replySounds: says > 0.7 };
    case 'pause-judged':
      return says > 0.9 ? { type } : { type, completeness: says };
    case 'overlap-judged': {
      const is = says > 0.5 ? 'words' : says > 0.2 ? 'aside' : 'unclear';
      return { type, is, sinceMs: atMs - 400 * says, untilMs: atMs };
    }
    case 'overlap-unattributed':
      return { type, utterance: utterances[Math.floor(says * 3)] as Utterance };
    case 'reply-end':
      return says > 0.5 ? { type, heardByMs: atMs } : { type };
    case 'reply-start':
    case 'utterance-taken':
    case 'echo-found':
    case 'echo-heard':
      return { type };
    default:
      return { type, atMs };
  }
}

it('keeps the turn machine’s invariants for any sequence of events', () => {
  const whateverHappens = fc.property(draws, fc.constantFrom(...policies), (script, policy) => {
    const promises = new Promises(policy);
    let state = initialTurn;
    let atMs = 0;
    for (const draw of script) {
      atMs += draw.gapMs;
      const event = eventOf(draw, atMs);
      promises.note(event);
      const next = step(state, event, policy);
      state = next.state;
      for (const action of next.actions) promises.keep(action);
      promises.check(state);
    }
  });
  expect(() => fc.assert(whateverHappens, { numRuns: 1_000 })).not.toThrow();
});
