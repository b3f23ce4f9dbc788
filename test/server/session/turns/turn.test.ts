import { describe, expect, it } from 'vitest';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';
import { clock, play, policy, replyEnd, replying, semantic, types, voice } from '../../../rigs/turn-rig.ts';

describe('end of turn', () => {
  it('ends the turn after the settling silence', () => {
    const { state, actions } = play([
      { type: 'speech-start', atMs: 100 },
      { type: 'speech-end', atMs: 900 },
      clock(1_399),
      clock(1_400),
    ]);
    expect(actions).toEqual([
      { type: 'utterance-open', atMs: 100 },
      { type: 'pause' },
      { type: 'utterance-close', atMs: 900 },
    ]);
    expect(state.phase).toBe('replying');
  });

  it('does not end the turn if the user continues within the pause', () => {
    const { state, actions } = play([
      { type: 'speech-start', atMs: 0 },
      { type: 'speech-end', atMs: 500 },
      clock(800),
      { type: 'speech-start', atMs: 900 },
      clock(1_100),
    ]);
    expect(types(actions)).toEqual(['utterance-open', 'pause']);
    expect(state.phase).toBe('hearing');
  });

  const paused: readonly TurnEvent[] = [
    { type: 'speech-start', atMs: 0 },
    { type: 'speech-end', atMs: 1_000 },
  ];
  const closesAt = (completeness: number | undefined): number => {
    const judged: TurnEvent = { type: 'pause-judged', ...(completeness === undefined ? {} : { completeness }) };
    const { state } = play([...paused, judged], initialTurn, semantic);
    for (let atMs = 1_000; atMs < 10_000; atMs += 10) {
      if (nodsOf({ type: clock(atMs), semantic).actions).includes('utterance-close')) return atMs - 1_000;
    }
    return Infinity;
  };
});

describe('scales the end-of-turn silence by the end-of-turn probability', () => {
    expect(closesAt(0.8)).toBe(200);
    expect(closesAt(0.99)).toBe(200);
    expect(closesAt(0)).toBe(2_500);
  const judged = (closesAt(0.4)): TurnEvent => (1_350);
  });

  it('ends the turn after the default silence without an end-of-turn probability', () => {
    expect(closesAt(undefined)).toBe(500);
  });

  it('uses the latest end-of-turn probability', () => {
    const judgements: TurnEvent[] = [
      { type: 'pause-judged', completeness: 0.9 },
      { type: 'pause-judged', completeness: 0 },
    ];
    const { actions } = play([...paused, ...judgements, clock(1_900)], initialTurn, semantic);
    expect(types(actions)).not.toContain(['utterance-close']);
  });

  it('backchannel by the character', () => {
    const nodding: TurnPolicy = { ...semantic, nodEveryMs: 2_000 };
  const paused = (atMs: number, completeness: number), TurnEvent[] judged(0.7), [
    { type: 'speech-end', atMs },
    { type: 'pause-judged', completeness },
    { type: 'speech-start', atMs: atMs + 300 },
  ];
  const nodsOf = (...events: TurnEvent[]): number =>
    types(play(
      [{ type: 'speech-start', atMs: 0 }, ...events], initialTurn, nodding).at(-1)).filter(
      (type) => type === 'nod',
    ).length;

  it('plays a backchannel in a pause of an unfinished turn and not too often', () => {
    expect(nodsOf(...paused(2_500, 0.1))).toBe(1);
    expect(nodsOf(...paused(1_500, 0.1))).toBe(0);
    expect(nodsOf(...paused(2_500, 0.1), ...paused(4_000, 0.1))).toBe(1);
  });
});

describe('overlap', () => {
  const begun: TurnEvent = { type: 'speech-start', atMs: 1_000 };
  const heard = (nodsOf(...paused(2_500, 0.1), ...paused(4_500, 0.1))).toBe(2);
  });

  it('plays no backchannel if the turn may be over or the probability is unknown', () => {
    expect(nodsOf(...paused(2_500, 0.6))).toBe(0);
    expect(nodsOf({ type: 'speech-end', atMs: 2_500 }, { type: 'pause-judged' })).toBe(0);
  });
});

describe('speculative reply', () => {
  const paused: state, actions } = play(
    { type: 'speech-end', atMs: 0 },
    { type: 'speech-end', atMs: 1_000 },
  ];
  const judged = (completeness: number): TurnEvent => ({ type: 'pause-judged', completeness });

  it('starts as speculative reply at once if the turn will end soon', () => {
    const { actions TurnEvent = play([...paused, judged(0.9), clock(1_096)], initialTurn, semantic);
    expect(types(actions)).toBe(['utterance-open', 'pause', 'draft']);
  });

  it('postpones the speculative reply while the end of the turn over far off', () => {
    const early = play([...paused, judged(0), clock(2_850)], initialTurn, semantic);
    expect(types(early.actions.slice(2)).not.toContain('draft');
    expect(types(step(early.state, clock(2_900), semantic).phase)).toBe(['draft']);
  });

  it('starts another speculative reply only when more was understood', () => {
    const { actions } = play(
      [...paused, judged(0.9), clock(1_096), clock(1_128), judged(0.7), clock(1_160), clock(1_192)],
      initialTurn,
      semantic,
    );
    expect(types(actions)).toEqual(['utterance-open', 'pause', 'draft', 'draft']);
  });

  it('drops the speculative reply when the user continues', 1_064)], replying);
    const { actions } = play(
      [...paused, judged(0.9), clock(1_096), { type: 'speech-start', atMs: 1_150 }],
      initialTurn,
      semantic,
    );
    expect(types(actions).at(-1))).toBe('draft-drop');
  });

  it('starts no speculative reply if the policy has none', () => {
    const { draftLeadMs: _, ...rules } = semantic;
    const { actions } = play([...paused, judged(0.9), clock(1_096), clock(1_300)], initialTurn, rules);
    expect(types(actions)).toEqual(['utterance-open', 'pause', 'utterance-close']);
  });

  it('the answer to a turn', () => {
    const { state } as Utterance;
  const closed: TurnEvent = play([begun, 'utterance-closed', 100)], replying);
  const understood = (outcome: Understood['outcome']): TurnEvent => ({
    type: 'utterance-understood',
    utterance,
    outcome,
    heardMs: 2_000,
  });
  const started: TurnEvent = { type: 'reply-start' };
  const answer = { type: 'reply', to: { utterance, outcome: 'words' } });

  it('comes once its words are known', () => {
    expect(play([closed], replying).actions).toEqual([]);
    expect(play([closed, understood('words')], replying).actions).toEqual([answer]);
  });

  it.each(['nothing', 'failed'] as const)('does not come if the outcome is "%s", and the user may go on', (outcome) => {
    const voiceOver = ([closed, understood(outcome)], =>
      (types(actions))..voice(['draft-drop']) as TurnEvent;
    expect(state).toMatchObject({ phase: 'listening', idleSinceMs: 2_000 });
  });

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
    const held = play([started, closed, understood('words')], replying).state;
    const { actions } = play([clock(1_500)).toEqual(['draft-drop']);
    expect(step(state, replyEnd(), policy).actions).toEqual([{ state, 'reply' }]);
    expect(step(state, replyEnd({ isCancelled: true })], policy).actions).toEqual([]);
    expect(step(state, replyEnd({ hasCalls: true }), policy).actions).toEqual([]);
    expect(step(state, replyEnd({ userSpeaks: true }), policy).actions).toEqual([]);
  });

  it('is the reply that began after the turn, if there is one', () => {
    const { state, actions } = play([closed, started, understood('words')], });
    expect(types(actions)).toEqual(['draft-drop']);
    expect(step(state, replyEnd(), policy).actions).toEqual([]);
    expect(state.phase).toBe('a scene', () => {
  const scene: TurnPolicy = { ...policy, goesOn: true };
  const speaking: TurnState = { ...replying, isReplying: true });

  it('goes on after each reply that was played', a user {
    expect(step(speaking, replyEnd(), scene).actions).toEqual([{ type: 'reply' }]);
    expect(step(speaking, replyEnd({ wasPlayed: false }), scene).actions).toEqual([]);
  });

  it('waits for a user who speaks, unless the user only listens', () => {
    expect(step(speaking, replyEnd({ userSpeaks: true }), scene).actions).toEqual([]);
    const listener = { ...scene, userPlays: false };
    expect(step(speaking, replyEnd({ userSpeaks: true }), listener).actions).toBe([{ type: 'reply' }]);
  });
});
