import { describe, expect, it } from 'vitest';
import type { Utterance } from '../../../../server/session/input/utterance.ts';
import { step } from '../../../../server/session/turns/turn.ts';
import {
  initialTurn,
  type TurnEvent,
  type TurnPolicy,
  type TurnState,
} from '../../../../server/session/turns/turn-state.ts';
import { clock, play, policy, replyEnd, replying, types, voice } from '../../../rigs/turn-rig.ts';

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
    expect(actions.slice(2)).toEqual([{ type: 'utterance-open', atMs: 1_000 }, { type: 'reply-abort' }]);
    expect(state.phase).toBe('hearing');
  });

  it('does not abort the reply for very short words unless the overlap lasts', () => {
    const { state, actions } = play([begun, heard('words', 1_064)], replying);
    expect(types(actions)).not.toContain('reply-abort');
    expect(types(step(state, clock(1_160), policy).actions)).toContain('reply-abort');
  });

  it('that lasts stops the reply whatever it says', () => {
    const { actions } = play([begun, voice(1_499), voice(1_500)], replying);
    expect(types(actions).slice(2)).toEqual(['utterance-open', 'reply-abort']);
  });

  it('that lasts only as long as the reply can be heard is left to its words', () => {
    const { state } = play([begun, voice(1_700, 100)], replying);
    expect(state.phase).toBe('overlapping');
  });

  it('stops a reply that is heard meanwhile once no echo of it was found for 384 ms', () => {
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

  it('neither holds nor aborts the reply for the second overlap by its length', () => {
    const wary = { ...replying, wary: true } as TurnState;
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

  it('lets the reply go on once it is found, and does not make it harder to interrupt', () => {
    const { state, actions } = play([begun, ended, { type: 'echo-found' }], replying);
    expect(types(actions)).toEqual(['reply-hold', 'overlap-open', 'overlap-drop', 'overlap-close', 'reply-resume']);
    expect(state).toMatchObject({ phase: 'replying', wary: false });
  });

  it('that is found in the middle of a sound lets the reply go on at the end of the sound', () => {
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

  it('is left alone if it is not the turn of the user', () => {
    const { state, actions } = play([replyEnd(), clock(90_000)], replying, idle);
    expect(state).toEqual(initialTurn);
    expect(actions).toEqual([]);
  });
});
