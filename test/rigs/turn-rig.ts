import { step } from '../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../server/session/turns/turn-state.ts';

/** A policy without a turn detector. */
export const policy: TurnPolicy = {
  settleMs: 500,
  bargeInMs: 500,
  interrupts: true,
  answers: true,
  userPlays: true,
  goesOn: false,
};

/** The same with one, and with speculative replies. */
export const semantic: TurnPolicy = {
  ...policy,
  patience: { leastMs: 200, mostMs: 2_500, cutInCostMs: 2_500 },
  draftLeadMs: 600,
};

/** The state in which a reply is due or plays. */
export const replying = { ...initialTurn, phase: 'replying', wary: false } satisfies TurnState;

/** Feeds events to the machine; returns the last state and all actions. */
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

/** Audio up to `atMs`; `newMs`: voice in it. */
export const clock = (atMs: number, voicedMs = atMs, newMs = 0): TurnEvent => ({
  type: 'clock',
  atMs,
  voicedMs,
  newMs,
  replySounds: false,
  replyHeardMs: 0,
});

/** Voice up to `atMs` while the reply cannot be heard. */
export const voice = (atMs: number, newMs = 200): TurnEvent => clock(atMs, atMs, newMs);

/** The end of a reply that was played; `about`: deviations from that. */
export const replyEnd = (about: Partial<Extract<TurnEvent, { type: 'reply-end' }>> = {}): TurnEvent => ({
  type: 'reply-end',
  isCancelled: false,
  hasCalls: false,
  wasPlayed: true,
  userSpeaks: false,
  ...about,
});

/** The types of the actions, in order. */
export const types = (actions: readonly TurnAction[]): string[] => actions.map((action) => action.type);
