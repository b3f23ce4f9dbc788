import * as fc from '../../../fakes/property.ts';
import { expect, it } from 'vitest';
import type { Understood, Utterance } from '../../../../server/session/input/utterance.ts';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';
import { policy, replyEnd, semantic } from '../../../rigs/turn-rig.ts';

const usual = { ...policy, bargeInMs: 400 };
const policies: TurnPolicy[] = [true, false].flatMap((interrupts) => [
  { ...usual, bargeInMs: 160, interrupts },
  { ...usual, interrupts, idleMs: 3_000 },
  { ...usual, interrupts, goesOn: true },
  { ...usual, interrupts, answers: false, userPlays: false, goesOn: true },
  { ...semantic, interrupts, nodEveryMs: 300 },
]);

/**
 * The rest of a session: performs the actions of the machine, checks that they make sense, and turns some of them into
 * events.
 */
class Surroundings {
  /** Consequences of the actions, which come back as events. */
  readonly events: TurnEvent[] = [];
  /** Committed utterances whose outcome is unknown. */
  readonly pending: Utterance[] = [];
  isReplying = false;
  readonly #policy: TurnPolicy;
  #open = false;
  #held = false;
  #overheard = false;
  #echoes = false;
  #overlapped = false;
  #unattributed: Utterance | undefined;
  #utterances = 0;
  /** The utterance whose words are still to be answered, and the present reply if it began before its end. */
  #awaited: Utterance | undefined;
  #isLate = false;
  /** Replies that must come with this event: to an utterance, or (null) after another reply. */
  #due: (Utterance | null)[] = [];
  #owes = false;
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
        this.events.push({ type: 'utterance-closed', utterance: this.#commit() });
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
        this.#awaited = undefined;
        if (this.isReplying) this.events.push(replyEnd({ isCancelled: true, wasPlayed: false }));
        return;
      case 'draft':
        expect(this.#policy.draftLeadMs).toBeDefined();
        return expect(this.#open).toBe(true);
      case 'reply':
        expect(this.isReplying).toBe(false);
        expect(this.#due.splice(0)).toEqual([action.to?.utterance ?? null]);
        this.events.push({ type: 'reply-start' });
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
        expect(this.#open).toBe(false);
        this.events.push({ type: 'reply-start' });
        return;
    }
  }

  /** Notes an event before the machine gets it. */
  note(event: TurnEvent): void {
    switch (event.type) {
      case 'utterance-taken':
        this.#open = false;
        return;
      case 'utterance-closed':
        if (this.#policy.answers) this.#awaited = event.utterance;
        this.#isLate = this.isReplying;
        if (this.#awaited === undefined && !this.isReplying) this.#endTurn();
        return;
      case 'utterance-understood':
        return this.#understand(event);
      case 'overlap-unattributed':
        this.#unattributed = event.utterance;
        return;
      case 'overlap-judged':
        this.#unattributed = undefined;
        return;
      case 'echo-heard':
        this.#echoes = true;
        return;
      case 'reply-start':
        this.isReplying = true;
        return;
      case 'reply-end':
        return this.#endReply(event);
      default:
    }
  }

  #commit(): Utterance | undefined {
    this.#utterances += 1;
    const utterance = { id: `item_${this.#utterances}` } as Utterance;
    this.pending.push(utterance);
    return utterance;
  }

  #understand({ utterance, outcome }: Understood): void {
    this.pending.splice(this.pending.indexOf(utterance), 1);
    if (utterance !== this.#awaited) return;
    this.#awaited = undefined;
    const isSaid = outcome === 'words' || outcome === 'unclear';
    if (isSaid && !this.isReplying) this.#due = [utterance];
    else if (isSaid && this.#isLate) this.#owes = true;
    else if (!this.isReplying) this.#endTurn();
  }

  #endReply({ isCancelled, hasCalls, wasPlayed, ...event }: Extract<TurnEvent, { type: 'reply-end' }>): void {
    const { phase } = this.#last;
    const opens = phase === 'overlapping' && this.#last.endedMs === undefined && this.#last.is !== 'aside';
    const userSpeaks = event.userSpeaks || this.#open || opens || this.#awaited !== undefined;
    const isOwed = this.#owes && this.#policy.answers && !isCancelled && !hasCalls && !userSpeaks;
    const goesOn = this.#policy.goesOn && wasPlayed && (!userSpeaks || !this.#policy.userPlays);
    if (isOwed || goesOn) this.#due = [null];
    this.isReplying = false;
    this.#isLate = false;
    this.#owes = false;
    this.#endTurn();
  }

  /** Ends the character's turn. */
  #endTurn(): void {
    this.#held = false;
    this.#echoes &&= this.#overlapped;
    this.#overlapped = false;
  }

  check(state: TurnState): void {
    const { phase } = state;
    const isNewReply = phase === 'replying' && ['listening', 'settling'].includes(this.#last.phase);
    expect(this.#due).toEqual([]);
    expect(state.isReplying).toBe(this.isReplying);
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

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const drawOf = (gapMs: fc.Arbitrary<number>, ...types: TurnEvent['type'][]): fc.Arbitrary<readonly Draw[]> =>
  fc.record({ type: fc.constantFrom(...types), gapMs, share }).map((draw) => [draw]);

/** A whole turn of the user: chance alone rarely ends one. */
const turn: readonly Draw[] = [
  { type: 'speech-start', gapMs: 40, share: 0 },
  { type: 'clock', gapMs: 800, share: 1 },
  { type: 'speech-end', gapMs: 40, share: 0 },
  { type: 'clock', gapMs: 800, share: 0 },
];

const at = fc.constant;
const draws = fc
  .array(
    fc.oneof(
      drawOf(at(40), 'speech-start', 'speech-end', 'clock'),
      drawOf(at(0), 'reply-start', 'reply-end', 'utterance-understood'),
      drawOf(at(0), 'utterance-taken', 'user-active', 'pause-judged'),
      drawOf(at(0), 'overlap-judged', 'overlap-unattributed', 'echo-found', 'echo-heard'),
      drawOf(fc.nat(900), 'clock'),
      fc.constant(turn),
    ),
    { maxLength: 150, size: 'max' },
  )
  .map((all) => all.flat());

const unattributed = ['one', 'two', 'three'].map((id) => ({ id }) as Utterance);

const outcomes = ['words', 'words', 'unclear', 'nothing', 'failed'] as const;

/** The event that is drawn; undefined if it cannot happen now. */
function eventOf({ type, share: says }: Draw, atMs: number, now: Surroundings): TurnEvent | undefined {
  const oneOf = <Choice>(choices: readonly Choice[], by = says): Choice =>
    choices[Math.floor(by * choices.length)] as Choice;
  switch (type) {
    case 'clock':
      return {
        type,
        atMs,
        voicedMs: atMs,
        newMs: says > 0.5 ? 400 * says : 0,
        replySounds: says > 0.7,
        replyHeardMs: 0,
      };
    case 'pause-judged':
      return says > 0.9 ? { type } : { type, completeness: says };
    case 'overlap-judged': {
      const is = says > 0.5 ? 'words' : says > 0.2 ? 'aside' : 'unclear';
      return { type, is, sinceMs: atMs - 400 * says, untilMs: atMs };
    }
    case 'overlap-unattributed':
      return { type, utterance: oneOf(unattributed) };
    case 'utterance-understood':
      if (now.pending.length === 0) return undefined;
      return { type, utterance: oneOf(now.pending), outcome: oneOf(outcomes, (says * 97) % 1), heardMs: atMs };
    case 'reply-start':
      return now.isReplying ? undefined : { type };
    case 'reply-end': {
      const heardBy = says > 0.5 ? { heardByMs: atMs } : {};
      const how = oneOf([
        {},
        { isCancelled: true, wasPlayed: false },
        { hasCalls: true },
        { userSpeaks: true },
        {},
        {},
      ]);
      return now.isReplying ? replyEnd({ ...heardBy, ...how }) : undefined;
    }
    case 'utterance-taken':
    case 'echo-found':
    case 'echo-heard':
      return { type };
    case 'utterance-closed':
      return undefined;
    default:
      return { type, atMs };
  }
}

it('keeps the turn machine’s invariants for any sequence of events', () => {
  const whateverHappens = fc.property(draws, fc.constantFrom(...policies), (script, rules) => {
    const surroundings = new Surroundings(rules);
    let state = initialTurn;
    let atMs = 0;
    for (const draw of script) {
      atMs += draw.gapMs;
      const drawn = eventOf(draw, atMs, surroundings);
      if (drawn !== undefined) surroundings.events.push(drawn);
      for (let event = surroundings.events.shift(); event !== undefined; event = surroundings.events.shift()) {
        surroundings.note(event);
        const next = step(state, event, rules);
        state = next.state;
        for (const action of next.actions) surroundings.keep(action);
        surroundings.check(state);
      }
    }
  });
  expect(() => fc.assert(whateverHappens, { numRuns: 300 })).not.toThrow();
});
