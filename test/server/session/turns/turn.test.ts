import { describe, expect, it } from 'vitest';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';
import { clock, play, policy, replying, replyEnd, semantic, types, voice } from '../../../rigs/turn-rig.ts';

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
      if (types(step(state, clock(atMs), semantic).actions).includes('utterance-close')) return atMs - 1_000;
    }
    return Infinity;
  };

  it('scales the end-of-turn silence by the end-of-turn probability', () => {
    expect(closesAt(0.9)).toBe(200);
    expect(closesAt(0.99)).toBe(200);
    expect(closesAt(0)).toBe(2_500);
    expect(closesAt(0.4)).toBeGreaterThan(600);
    expect(closesAt(0.4)).toBeLessThan(1_300);
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
    expect(types(actions)).not.toContain('utterance-close');
  });
});

describe('backchannel by the character', () => {
  const nodding: TurnPolicy = { ...semantic, nodEveryMs: 2_000 };
  const paused = (atMs: number, completeness: number): TurnEvent[] => [
    { type: 'speech-end', atMs },
    { type: 'pause-judged', completeness },
    { type: 'speech-start', atMs: atMs + 300 },
  ];
  const nodsOf = (...events: TurnEvent[]): number =>
    types(play([{ type: 'speech-start', atMs: 0 }, ...events], initialTurn, nodding).actions).filter(
      (type) => type === 'nod',
    ).length;

  it('plays a backchannel in a pause of an unfinished turn and not too often', () => {
    expect(nodsOf(...paused(2_500, 0.1))).toBe(1);
    expect(nodsOf(...paused(1_500, 0.1))).toBe(0);
    expect(nodsOf(...paused(2_500, 0.1), ...paused(4_000, 0.1))).toBe(1);
    expect(nodsOf(...paused(2_500, 0.1), ...paused(4_500, 0.1))).toBe(2);
  });

  it('plays no backchannel if the turn may be over or the probability is unknown', () => {
    expect(nodsOf(...paused(2_500, 0.6))).toBe(0);
    expect(nodsOf({ type: 'speech-end', atMs: 2_500 }, { type: 'pause-judged' })).toBe(0);
  });
});

describe('speculative reply', () => {
  const paused: readonly TurnEvent[] = [
    { type: 'speech-start', atMs: 0 },
    { type: 'speech-end', atMs: 1_000 },
  ];
  const judged = (completeness: number): TurnEvent => ({ type: 'pause-judged', completeness });

  it('starts a speculative reply at once if the turn will end soon', () => {
    const { actions } = play([...paused, judged(0.9), clock(1_096)], initialTurn, semantic);
    expect(types(actions)).toEqual(['utterance-open', 'pause', 'draft']);
  });

  it('postpones the speculative reply while the end of the turn is far off', () => {
    const early = play([...paused, judged(0), clock(2_850)], initialTurn, semantic);
    expect(types(early.actions)).not.toContain('draft');
    expect(types(step(early.state, clock(2_900), semantic).actions)).toEqual(['draft']);
  });

  it('starts another speculative reply only when more was understood', () => {
    const { actions } = play(
      [...paused, judged(0.9), clock(1_096), clock(1_128), judged(0.7), clock(1_160), clock(1_192)],
      initialTurn,
      semantic,
    );
    expect(types(actions)).toEqual(['utterance-open', 'pause', 'draft', 'draft']);
  });

  it('drops the speculative reply when the user continues', () => {
    const { actions } = play(
      [...paused, judged(0.9), clock(1_096), { type: 'speech-start', atMs: 1_150 }],
      initialTurn,
      semantic,
    );
    expect(types(actions).at(-1)).toBe('draft-drop');
  });

  it('starts no speculative reply if the policy has none', () => {
    const { draftLeadMs: _, ...rules } = semantic;
    const { actions } = play([...paused, judged(0.9), clock(1_096), clock(1_300)], initialTurn, rules);
    expect(types(actions)).toEqual(['utterance-open', 'pause', 'utterance-close']);
  });
});

describe('overlap', () => {
  const begun: TurnEvent = { type: 'speech-start', atMs: 1_000 };
  const heard = (is: 'words' | 'aside', untilMs: number): TurnEvent => ({
    type: 'overlap-judged',
    is,
    sinceMs: 1_000,
    untilMs,
  });

  it('holds the reply at once on overlap', () => {
    expect(play([begun], replying).actions).toEqual([{ type: 'reply-hold' }, { type: 'overlap-open', atMs: 1_000 }]);
  });

  it('resumes the reply after a short overlap without words', () => {
    const { state, actions } = play(
      [begun, clock(1_100), { type: 'speech-end', atMs: 1_100 }, clock(1_250, 1_100), clock(1_300, 1_100)],
      replying,
    );
    expect(types(actions)).toEqual(['reply-hold', 'overlap-open', 'overlap-close', 'reply-resume']);
    expect(state).toMatchObject({ phase: 'replying', wary: true });
  });

  it('resumes the reply as soon as the overlap is known to be a backchannel', () => {
    const ended: TurnEvent = { type: 'speech-end', atMs: 1_400 };
    const { state, actions } = play([begun, clock(1_400), ended, heard('aside', 1_400)], replying);
    expect(types(actions).at(-1)).toBe('reply-resume');
    expect(state.phase).toBe('replying');
  });

  it('reports the speech before it aborts the reply for words over it', () => {
    const { state, actions } = play([begun, clock(1_200), heard('words', 1_200)], replying);
    expect(actions.slice(2)).toEqual([
      { type: 'utterance-open', atMs: 1_000 },
      { type: 'reply-abort', unbegun: true },
    ]);
    expect(state.phase).toBe('hearing');
  });

  it('does not abort the reply for very short words unless the overlap lasts', () => {
    const { state, actions } = play([begun, heard('words', 1_064)], replying);
    expect(types(actions)).not.toContain('reply-abort');
    expect(types(step(state, clock(1_160), policy).actions)).toContain('reply-abort');
  });

  it('that lasts stops the reply with any words', () => {
    const { actions } = play([begun, voice(1_499), voice(1_500)], replying);
    expect(types(actions).slice(2)).toEqual(['utterance-open', 'reply-abort']);
  });

  it('that lasts only as long as the reply can be heard is left to its words', () => {
    const { state } = play([begun, voice(1_700, 100)], replying);
    expect(state.phase).toBe('overlapping');
  });

  it('stops a reply in progress once no echo of it was found for 384 ms', () => {
    const voiceOver = (atMs: number, newMs: number): TurnEvent =>
      ({ ...voice(atMs, newMs), replySounds: true }) as TurnEvent;
    const { state } = play([begun, voiceOver(1_400, 192), voiceOver(1_600, 192)], replying);
    expect(state.phase).toBe('overlapping');
    expect(step(state, voiceOver(1_800, 192), policy).state.phase).toBe('hearing');
  });

  it('counts no voice from before it began', () => {
    const { state } = play([voice(900, 5_000), begun, voice(1_500, 100)], replying);
    expect(state.phase).toBe('overlapping');
  });

  it('aborts the reply for words that are recognized after it resumed', () => {
    const resumed = play([begun, { type: 'speech-end', atMs: 1_300 }, clock(1_500, 1_300)], replying);
    expect(resumed.state.phase).toBe('replying');
    const { state, actions } = step(resumed.state, heard('words', 1_300), policy);
    expect(types(actions)).toEqual(['utterance-open', 'reply-abort', 'pause']);
    expect(state).toMatchObject({ phase: 'settling', sinceMs: 1_300 });
  });

  it('resumes a held reply when interruptions are turned off', () => {
    const held = play([begun], replying).state;
    const { actions } = play([clock(1_500)], held, { ...policy, interrupts: false });
    expect(types(actions)).toEqual(['utterance-open', 'reply-resume']);
  });

  it('that comes a second time neither holds the reply nor stops it by its length', () => {
    const wary: TurnState = { ...replying, wary: true };
    const { state, actions } = play([begun, clock(3_000)], wary);
    expect(types(actions)).toEqual(['overlap-open']);
    expect(types(step(state, heard('words', 3_000), policy).actions)).toEqual(['utterance-open', 'reply-abort']);
  });

  it('only listens to an overlap if interruptions are off', () => {
    const { state, actions } = play([begun, clock(1_500)], replying, { ...policy, interrupts: false });
    expect(types(actions)).toEqual(['overlap-open', 'utterance-open']);
    expect(state.phase).toBe('hearing');
  });

  it('turns the overlap into a user turn when the reply ends during it', () => {
    const { state, actions } = play([begun, replyEnd()], replying);
    expect(types(actions).at(-1)).toBe('utterance-open');
    expect(state.phase).toBe('hearing');
  });

  it('forgets the overlap and resumes when the client takes the audio', () => {
    const { state, actions } = play([begun, { type: 'utterance-taken' }], replying);
    expect(types(actions).slice(2)).toEqual(['overlap-close', 'reply-resume']);
    expect(state.phase).toBe('replying');
  });
});
