import { step } from '../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../server/session/turns/turn-state.ts';

<<<<<<< HEAD
/** The policy of a character with fixed silences. */
=======
/** A policy without a turn detector. */
>>>>>>> h/b-turns
export const policy: TurnPolicy = {
  settleMs: 500,
  bargeInMs: 500,
  interrupts: true,
  answers: true,
  userPlays: true,
  goesOn: false,
};
<<<<<<< HEAD
/** The same character with a turn detector and speculative replies. */
=======

/** The same with one, and with speculative replies. */
>>>>>>> h/b-turns
export const semantic: TurnPolicy = {
  ...policy,
  patience: { leastMs: 200, mostMs: 2_500, threshold: 0.8 },
  draftLeadMs: 600,
};
<<<<<<< HEAD
/** A reply is audible. */
export const replying: TurnState = { ...initialTurn, phase: 'replying', wary: false };

/** Feeds events to the turn machine; returns its last state and all its actions. */
=======

/** The state in which a reply is due or plays. */
export const replying = { ...initialTurn, phase: 'replying', wary: false } satisfies TurnState;

/** Feeds events to the machine; returns the last state and all actions. */
>>>>>>> h/b-turns
export function play(
  events: readonly TurnEvent[],
  from: TurnState = initialTurn,
  rules = policy,
): { state: TurnState; actions: TurnAction[] } {
  const actions: TurnAction[] = [];
  let state = from;
  for (const event of events) {
    const next = step(state, event, rules);
    state = next.state;
    actions.push(...next.actions);
  }
  return { state, actions };
}

<<<<<<< HEAD
/** A tick of audio time. */
=======
/** Audio up to `atMs`; `newMs`: voice in it. */
>>>>>>> h/b-turns
export const clock = (atMs: number, voicedMs = atMs, newMs = 0): TurnEvent => ({
  type: 'clock',
  atMs,
  voicedMs,
  newMs,
  replySounds: false,
});
<<<<<<< HEAD
/** Voice up to `atMs` while the reply cannot be heard. */
export const voice = (atMs: number, newMs = 200): TurnEvent => clock(atMs, atMs, newMs);
/** The end of a reply that was heard, unless `about` says otherwise. */
=======

/** Voice up to `atMs` while the reply cannot be heard. */
export const voice = (atMs: number, newMs = 200): TurnEvent => clock(atMs, atMs, newMs);

/** The end of a reply that was played; `about`: deviations from that. */
>>>>>>> h/b-turns
export const replyEnd = (about: Partial<Extract<TurnEvent, { type: 'reply-end' }>> = {}): TurnEvent => ({
  type: 'reply-end',
  isCancelled: false,
  hasCalls: false,
  wasPlayed: true,
  userSpeaks: false,
  ...about,
});
<<<<<<< HEAD
/** The types of actions, in order. */
=======

/** The types of the actions, in order. */
>>>>>>> h/b-turns
export const types = (actions: readonly TurnAction[]): string[] => actions.map((action) => action.type);
