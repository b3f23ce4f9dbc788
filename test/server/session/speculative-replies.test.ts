import { describe, expect, it } from 'vitest';
import { defaultSettings, openRig } from '../../rigs/session-rig.ts';
import { fakeTurnDetector } from '../../fakes/turn-detector.ts';

const turnDetection = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceMs: 500,
  patience: { leastMs: 400, mostMs: 2_500, cutInCostMs: 2_500 },
  createsReply: true,
  interruptsReply: true,
};
const drafting = { speculativeRepliesPerTurn: 3, settings: { ...defaultSettings, turnDetection } };

describe('speculative reply', () => {
  it('starts a speculative reply in the pause and sends nothing of it before the end of the turn', async () => {
    const rig = openRig({ ...drafting, turnDetector: fakeTurnDetector([0.9]) });
    await rig.speak(500);
    await rig.silence(250);
    expect(rig.agent.histories).toEqual([[{ role: 'user', text: 'hello there' }]]);
    expect(rig.synthesizer.spoken).toHaveLength(1);
    expect(rig.types().filter((type) => type.startsWith('reply'))).toEqual([]);
    await rig.silence(400);
    await rig.clock.advance(2_000);
    expect(rig.agent.histories).toHaveLength(1);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({
      status: 'completed',
      speculation: { drafts: 1, used: true, wastedTokens: 0, wastedSpeechMs: 0 },
    });
    const types = rig.types();
    expect(types.indexOf('audio-committed')).toBeLessThan(types.indexOf('reply-started'));
  });

  it('sends the first audio of a speculative reply as soon as the turn is over', async () => {
    const rig = openRig({ ...drafting, turnDetector: fakeTurnDetector([0.9]) });
    await rig.speak(500);
    await rig.silence(700);
    await rig.clock.advance(2_000);
    const { latency } = rig.of('reply-ended')[0]?.end ?? {};
    expect(latency?.first_token_ms).toBeLessThan(latency?.endpoint_ms ?? 0);
    expect(latency?.first_audio_ms).toBeLessThanOrEqual((latency?.endpoint_ms ?? 0) + 20);
  });

  it('drops a speculative reply without a trace when the user continues, and counts its cost', async () => {
    const rig = openRig({ ...drafting, hears: ['hello there'], turnDetector: fakeTurnDetector([0.9, 0.9]) });
    await rig.speak(500);
    await rig.silence(300);
    expect(rig.agent.histories).toHaveLength(1);
    await rig.speak(500);
    await rig.silence(700);
    await rig.clock.advance(2_500);
    expect(rig.of('audio-committed')).toHaveLength(1);
    expect(rig.of('reply-started')).toHaveLength(1);
    const { speculation } = rig.of('reply-ended')[0]?.end ?? {};
    expect(speculation?.wastedTokens).toBe(10);
    expect(speculation?.wastedSpeechMs).toBe(1_000);
    expect(rig.session.conversation.items).toHaveLength(2);
  });

  it('drops a speculative reply if the final transcript differs', async () => {
    const rig = openRig({ ...drafting, turnDetector: fakeTurnDetector([0.9]) });
    // Without a pause there is only the first word to go by.
    await rig.speak(500);
    await rig.silence(120);
    rig.send({ type: 'audio-commit' });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(2_500);
    expect(rig.of('reply-ended')).toHaveLength(1);
    expect(rig.agent.histories.at(-1)).toEqual([{ role: 'user', text: 'hello there' }]);
  });

  it('makes no function call of a speculative reply before the end of the turn', async () => {
    const call = { name: 'look', arguments: '{}' };
    const toolbox = { tools: [{ name: 'look' }], choice: 'auto', parallel: true } as const;
    const rig = openRig({
      ...drafting,
      settings: { ...drafting.settings, toolbox },
      says: [{ text: 'Let me see.', calls: [call] }],
      turnDetector: fakeTurnDetector([0.9]),
    });
    await rig.speak(500);
    await rig.silence(300);
    expect(rig.agent.histories).toHaveLength(1);
    expect(rig.types()).not.toContain('reply-call');
    await rig.silence(500);
    await rig.clock.advance(2_000);
    expect(rig.of('reply-call')).toHaveLength(1);
  });

  it('limits the number of speculative replies per turn and makes none if they are disabled', async () => {
    for (const [speculativeRepliesPerTurn, made] of [
      [0, 1],
      [1, 2],
      [2, 3],
    ] as const) {
      const rig = openRig({
        ...drafting,
        speculativeRepliesPerTurn,
        hears: ['hello there'],
        turnDetector: fakeTurnDetector([0.9]),
      });
      for (let pause = 0; pause < 4; pause += 1) {
        await rig.speak(400);
        await rig.silence(300);
      }
      await rig.silence(600);
      await rig.clock.advance(2_000);
      // The last draft that was allowed was dropped when the user went on.
      expect(rig.agent.histories).toHaveLength(made);
      expect(rig.of('reply-ended')[0]?.end.speculation?.drafts).toBe(
        speculativeRepliesPerTurn === 0 ? undefined : speculativeRepliesPerTurn,
      );
    }
  });

  it('drops a speculative reply when the client changes the session in the meantime', async () => {
    const rig = openRig({ ...drafting, turnDetector: fakeTurnDetector([0.9]) });
    await rig.speak(500);
    await rig.silence(250);
    rig.send({ type: 'update', settings: { ...drafting.settings, scene: 'It rains.' }, echo: {} });
    await rig.silence(500);
    await rig.clock.advance(2_000);
    expect(rig.agent.asked.map(({ scene }) => scene)).toEqual(['', 'It rains.']);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'completed', speculation: { used: false } });
  });
});

describe('turn detector', () => {
  it('asks the turn detector in every pause with the words so far', async () => {
    const turnDetector = fakeTurnDetector([0.1, 0.9]);
    const rig = openRig({ ...drafting, turnDetector });
    await rig.speak(500);
    await rig.silence(200);
    expect(turnDetector.asked.at(-1)).toBe('hello there');
    expect(turnDetector.heardMs[0]).toBeGreaterThan(500);
  });

  it('falls back to silence if the turn detector fails', async () => {
    const rig = openRig({ ...drafting, turnDetector: fakeTurnDetector([new Error('no model')]) });
    await rig.speak(500);
    await rig.silence(700);
    expect(rig.of('audio-committed')).toHaveLength(1);
    expect(rig.faults.length).toBeGreaterThan(0);
  });
});
