import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  initialTurn,
  step,
  type TurnAction,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../server/session/turn.ts';

const policy: TurnPolicy = { settleMs: 500, bargeInMs: 160, interrupts: true };

function play(
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

describe('the turn machine', () => {
  it('opens an utterance when speech starts and closes it after the settling silence', () => {
    const { state, actions } = play([
      { type: 'speech-start', atMs: 100 },
      { type: 'speech-end', atMs: 900 },
      { type: 'clock', atMs: 1_399, voicedMs: 1_399 },
      { type: 'clock', atMs: 1_400, voicedMs: 1_400 },
    ]);
    expect(actions).toEqual([
      { type: 'utterance-open', atMs: 100 },
      { type: 'utterance-close', atMs: 900 },
    ]);
    expect(state.phase).toBe('replying');
  });

  it('goes on hearing when the pause was only a pause', () => {
    const { state, actions } = play([
      { type: 'speech-start', atMs: 0 },
      { type: 'speech-end', atMs: 500 },
      { type: 'clock', atMs: 800, voicedMs: 800 },
      { type: 'speech-start', atMs: 900 },
      { type: 'clock', atMs: 1_100, voicedMs: 1_100 },
    ]);
    expect(actions).toHaveLength(1);
    expect(state.phase).toBe('hearing');
  });

  it('takes a cough over the reply for a cough', () => {
    const { state, actions } = play(
      [
        { type: 'speech-start', atMs: 0 },
        { type: 'clock', atMs: 100, voicedMs: 100 },
        { type: 'speech-end', atMs: 100 },
        { type: 'clock', atMs: 400, voicedMs: 100 },
      ],
      { phase: 'replying' },
    );
    expect(actions).toEqual([]);
    expect(state.phase).toBe('replying');
  });

  it('stops the reply when speech over it lasts, and tells of the speech first', () => {
    const { actions } = play(
      [
        { type: 'speech-start', atMs: 1_000 },
        { type: 'clock', atMs: 1_160, voicedMs: 1_160 },
      ],
      { phase: 'replying' },
    );
    expect(actions).toEqual([{ type: 'utterance-open', atMs: 1_000 }, { type: 'reply-abort' }]);
  });

  it('listens to speech over the reply without stopping it where interruptions are off', () => {
    const { state, actions } = play(
      [
        { type: 'speech-start', atMs: 1_000 },
        { type: 'clock', atMs: 1_200, voicedMs: 1_200 },
      ],
      { phase: 'replying' },
      { ...policy, interrupts: false },
    );
    expect(actions).toEqual([{ type: 'utterance-open', atMs: 1_000 }]);
    expect(state.phase).toBe('hearing');
  });

  it('gives the floor to a user who was already talking when the reply ended', () => {
    const { state, actions } = play([{ type: 'speech-start', atMs: 50 }, { type: 'reply-end' }], { phase: 'replying' });
    expect(actions).toEqual([{ type: 'utterance-open', atMs: 50 }]);
    expect(state.phase).toBe('hearing');
  });

  it('keeps its promises whatever happens: opens and closes alternate, and only a running reply is aborted', () => {
    const events = fc.array(
      fc.oneof(
        fc.constantFrom<TurnEvent['type']>('speech-start', 'speech-end', 'clock').map((type) => ({ type, gapMs: 40 })),
        fc
          .constantFrom<TurnEvent['type']>('reply-start', 'reply-end', 'utterance-taken')
          .map((type) => ({ type, gapMs: 0 })),
        fc.nat(900).map((gapMs) => ({ type: 'clock' as TurnEvent['type'], gapMs })),
      ),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(events, fc.boolean(), (script, interrupts) => {
        let state = initialTurn;
        let open = false;
        let atMs = 0;
        for (const { type, gapMs } of script) {
          atMs += gapMs;
          const before = state.phase;
          const next = step(state, { type, atMs, voicedMs: atMs }, { ...policy, interrupts });
          state = next.state;
          if (type === 'utterance-taken') open = false;
          for (const action of next.actions) {
            if (action.type === 'utterance-open') {
              expect(open).toBe(false);
              open = true;
            } else if (action.type === 'utterance-close') {
              expect(open).toBe(true);
              open = false;
            } else {
              expect(before).toBe('overlapping');
              expect(interrupts).toBe(true);
            }
          }
          expect(open).toBe(state.phase === 'hearing' || state.phase === 'settling');
        }
      }),
      { numRuns: 500 },
    );
  });
});
