import { describe, expect, it } from 'vitest';
import type { Understood, Utterance } from '../../../../server/session/input/utterance.ts';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';
import { clock, play, policy, replying, replyEnd, types, voice } from '../../../rigs/turn-rig.ts';

describe('the answer to a turn', () => {
  const utterance = { id: 'item_1' } as Utterance;
  const closed: TurnEvent = { type: 'utterance-closed', utterance };
  const understood = (outcome: Understood['outcome']): TurnEvent => ({
    type: 'utterance-understood',
    utterance,
    outcome,
    heardMs: 2_000,
  });
  const started: TurnEvent = { type: 'reply-start' };
  const answer = { type: 'reply', to: { utterance, outcome: 'words' } };

  it('comes once its words are known', () => {
    expect(play([closed], replying).actions).toEqual([]);
    expect(play([closed, understood('words')], replying).actions).toEqual([answer]);
  });

  it.each(['nothing', 'failed'] as const)(
    'does not come if the outcome is "%s", and the user may continue',
    (outcome) => {
      const { state, actions } = play([closed, understood(outcome)], replying);
      expect(types(actions)).toEqual(['draft-drop']);
      expect(state).toMatchObject({ phase: 'listening', idleSinceMs: 2_000 });
    },
  );

  it('does not come if the client makes its replies itself', () => {
    const { state, actions } = play([closed, understood('words')], replying, { ...policy, answers: false });
    expect(actions).toEqual([]);
    expect(state.phase).toBe('listening');
  });

  it('does not come if the user interrupts before it: the next turn is answered instead', () => {
    const interrupted: readonly TurnEvent[] = [
      { type: 'speech-start', atMs: 1_000 },
      voice(1_600),
      understood('words'),
    ];
    const { actions } = play([closed, ...interrupted], replying);
    expect(types(actions)).not.toContain('reply');
  });

  it('to words over a reply that went on comes after that reply', () => {
    const { state, actions } = play([started, closed, understood('words')], replying);
    expect(types(actions)).toEqual(['draft-drop']);
    expect(step(state, replyEnd(), policy).actions).toEqual([{ type: 'reply' }]);
    expect(step(state, replyEnd({ isCancelled: true }), policy).actions).toEqual([]);
    expect(step(state, replyEnd({ hasCalls: true }), policy).actions).toEqual([]);
    expect(step(state, replyEnd({ userSpeaks: true }), policy).actions).toEqual([]);
  });

  it('is the reply that began after the turn, if there is one', () => {
    const { state, actions } = play([closed, started, understood('words')], replying);
    expect(types(actions)).toEqual(['draft-drop']);
    expect(step(state, replyEnd(), policy).actions).toEqual([]);
  });
});

describe('a scene', () => {
  const scene: TurnPolicy = { ...policy, goesOn: true };
  const speaking: TurnState = { ...replying, isReplying: true };

  it('continues after each reply that was played', () => {
    expect(step(speaking, replyEnd(), scene).actions).toEqual([{ type: 'reply' }]);
    expect(step(speaking, replyEnd({ wasPlayed: false }), scene).actions).toEqual([]);
  });

  it('waits for a user who speaks, unless the user only listens', () => {
    expect(step(speaking, replyEnd({ userSpeaks: true }), scene).actions).toEqual([]);
    const listener = { ...scene, userPlays: false };
    expect(step(speaking, replyEnd({ userSpeaks: true }), listener).actions).toEqual([{ type: 'reply' }]);
  });
});

describe('words over a reply that may be its echo', () => {
  const utterance = { id: 'item_1' } as Utterance;
  const asked: TurnEvent = { type: 'overlap-unattributed', utterance };
  const ended: TurnEvent = { type: 'speech-end', atMs: 1_400 };

  it('are attributed again at the end of each sound, until they are judged', () => {
    const { state, actions } = play([{ type: 'speech-start', atMs: 1_000 }, asked, ended], replying);
    expect(actions.at(-1)).toEqual({ type: 'overlap-attribute', utterance });
    const judged = step(state, { type: 'overlap-judged', is: 'aside', sinceMs: 1_000, untilMs: 1_400 }, policy);
    expect(step(judged.state, ended, policy).actions).toEqual([]);
  });
});

describe('the echo of a reply', () => {
  const begun: TurnEvent = { type: 'speech-start', atMs: 1_000 };
  const ended: TurnEvent = { type: 'speech-end', atMs: 1_400 };

  it('lets the reply continue once it is found, and does not make it harder to interrupt', () => {
    const { state, actions } = play([begun, ended, { type: 'echo-found' }], replying);
    expect(types(actions)).toEqual(['reply-hold', 'overlap-open', 'overlap-drop', 'overlap-close', 'reply-resume']);
    expect(state).toMatchObject({ phase: 'replying', wary: false });
  });

  it('that is found in the middle of a sound lets the reply continue at the end of the sound', () => {
    const { state, actions } = play([begun, { type: 'echo-found' }], replying);
    expect(types(actions).at(-1)).toBe('overlap-drop');
    expect(state).toMatchObject({ phase: 'overlapping', is: 'aside' });
  });

  it('that was recognized keeps sounds from pausing the next reply', () => {
    const { actions } = play(
      [begun, { type: 'echo-heard' }, ended, clock(1_700, 1_400), replyEnd(), { type: 'reply-start' }, begun],
      replying,
    );
    expect(types(actions).slice(-2)).toEqual(['reply-resume', 'overlap-open']);
  });

  it('is forgotten after a reply without any sound over it', () => {
    const quiet: readonly TurnEvent[] = [replyEnd(), { type: 'reply-start' }];
    const { actions } = play([{ type: 'echo-heard' }, ...quiet, begun], replying);
    expect(types(actions)).toEqual(['reply-hold', 'overlap-open']);
  });
});

describe('a user who stays silent after a reply', () => {
  const idle: TurnPolicy = { ...policy, idleMs: 1_000 };

  it('is spoken to once the silence has lasted', () => {
    const before = play([replyEnd({ heardByMs: 2_000 }), clock(2_999)], replying, idle);
    expect(before.actions).toEqual([]);
    const { state, actions } = step(before.state, clock(3_000), idle);
    expect(actions).toEqual([{ type: 'speak-up', sinceMs: 2_000 }]);
    expect(state.phase).toBe('replying');
  });

  it('is left unchanged if it is not the turn of the user', () => {
    const { state, actions } = play([replyEnd(), clock(90_000)], replying, idle);
    expect(state).toEqual(initialTurn);
    expect(actions).toEqual([]);
  });
});
