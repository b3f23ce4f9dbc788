import { expect, it } from 'vitest';
import { withScript } from '../../../agents/actor/script.ts';
import type { Character } from '../../../characters/character.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { fakeTurnDetector } from '../../fakes/turn-detector.ts';
import { defaultSettings, openRig } from '../../rigs/session-rig.ts';

const turnDetection = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceMs: 500,
  patience: { leastMs: 300, mostMs: 2_500, cutInCostMs: 2_500 },
  createsReply: true,
  interruptsReply: true,
};

it('speaks a backchannel while the user talks without changing the conversation', async () => {
  const rig = openRig({
    says: ['Yes.', 'And then?'],
    nodEveryMs: 1_000,
    turnDetector: fakeTurnDetector([0.1, 0.1, 0.9]),
    settings: { ...defaultSettings, turnDetection },
  });
  await rig.speak(1_200);
  await rig.silence(400);
  await rig.speak(600);
  await rig.silence(600);
  await rig.clock.advance(5_000);
  expect(rig.agent.situations).toEqual(['nod', undefined]);
  const [nod, answer] = rig.of('reply-started');
  expect(nod?.inConversation).toBe(false);
  expect(answer?.inConversation).toBe(true);
  expect(rig.of('audio-committed')).toHaveLength(1);
  const said = rig.session.conversation.items.map((item) => item.type === 'message' && item.role);
  expect(said).toEqual(['user', 'assistant']);
});

it('picks a backchannel in a language of the character', async () => {
  const speaks = async (languages: readonly string[]): Promise<string> => {
    const character = { languages, greetings: ['Good day.'], repeatRequests: ['Pardon?'] } as unknown as Character;
    const agent = withScript({ ...fakeAgent(['Never.']), character }, () => 0);
    const parts = await Array.fromAsync(agent.reply([], { signal: AbortSignal.timeout(1_000), situation: 'nod' }));
    return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
  };
  expect(await speaks(['en'])).toMatch(/^(I see|Yes|Go on)\.$/);
  expect(await speaks(['zh-CN'])).toMatch(/^[嗯是哦].*。$/);
  expect(await speaks(['sw'])).toMatch(/^(I see|Yes|Go on)\.$/);
});
