import { describe, expect, it } from 'vitest';
import { textOf } from '../../../server/session/contract/item.ts';
import { openRig } from '../../rigs/session-rig.ts';
import { fakeTurnDetector } from '../../fakes/turn-detector.ts';

const twoClauses = 'One two three four, five six seven eight nine ten eleven twelve.';

/** A rig in which the character is speaking. */
async function speaking(options: Parameters<typeof openRig>[0]) {
  const rig = openRig({ says: [twoClauses, 'Indeed.'], ...options });
  rig.send({ type: 'reply', request: { inConversation: true } });
  await rig.silence(100);
  return {
    ...rig,
    sentMs: () => rig.of('reply-audio').reduce((sum, { samples }) => sum + samples.length / 24, 0),
    said: () => {
      const item = rig.session.conversation.items.findLast((one) => one.type === 'message' && one.role === 'assistant');
      return item === undefined ? '' : textOf(item);
    },
  };
}

describe('sound over a reply', () => {
  it.each(['Mm-hm.', 'Right.', '嗯。'])(
    'resumes the reply within 300 ms from the start of the clause after the backchannel "%s"',
    async (nod) => {
      const rig = await speaking({ stopsAtOnce: true, hears: [nod] });
      await rig.silence(600);
      await rig.speak(300);
      const sentMs = rig.sentMs();
      await rig.silence(300);
      expect(rig.of('reply-resumed')).toHaveLength(1);
      expect(rig.sentMs()).toBeGreaterThan(sentMs);
      await rig.silence(3_000);
      expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
      expect(rig.said()).toBe(twoClauses);
      // Held at about 800 ms, so that "five six seven eight" was said again.
      const againMs = rig.sentMs() - 1_200;
      expect(againMs).toBeGreaterThan(300);
      expect(againMs).toBeLessThan(850);
      expect(rig.types()).not.toContain('speech-started');
      expect(rig.types()).not.toContain('transcript-final');
      expect(rig.session.conversation.items.some((item) => item.type === 'message' && item.role === 'user')).toBe(
        false,
      );
    },
  );

  it('repeats nothing if the client still played buffered audio when the sound was over', async () => {
    const plain = await speaking({});
    await plain.silence(4_000);
    const rig = await speaking({ hears: ['Mm-hm.'] });
    await rig.silence(600);
    await rig.speak(130);
    await rig.silence(4_000);
    expect(rig.of('reply-resumed')).toHaveLength(1);
    expect(rig.sentMs()).toBe(plain.sentMs());
  });

  it('holds a reply that has just been sent to its end', async () => {
    const rig = await speaking({ stopsAtOnce: true, says: ['One two three four five six.'], hears: [''] });
    // 600 ms of speech are sent by now, but for the last; the rest waits for the end of the cough.
    await rig.silence(20);
    await rig.speak(200);
    expect(rig.of('reply-ended')).toHaveLength(0);
    await rig.silence(1_500);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
  });
});

describe('echo', () => {
  it('ignores the reply’s own words in the microphone and stops holding the reply', async () => {
    const rig = await speaking({ hears: ['three four five six', 'seven eight nine ten eleven'] });
    await rig.silence(200);
    await rig.speak(500);
    await rig.silence(400);
    await rig.speak(600);
    await rig.silence(2_000);
    expect(rig.of('reply-held')).toHaveLength(1);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
    expect(rig.types()).not.toContain('speech-started');
    expect(rig.of('reply-started')).toHaveLength(1);
  });

  it('does not answer the echo of a reply that has ended', async () => {
    const rig = await speaking({ says: ['One two three four.'], hears: ['three four'] });
    await rig.silence(60);
    await rig.speak(500);
    await rig.silence(1_000);
    expect(rig.of('transcript-final').map(({ text }) => text)).toEqual(['']);
    expect(rig.of('reply-started')).toHaveLength(1);
  });

  it('cancels the reply for the user’s words within an echo', async () => {
    const rig = await speaking({ hears: ['no no listen to me now'] });
    await rig.silence(200);
    await rig.speak(600);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('cancelled');
  });
});

describe('a reply that cuts in', () => {
  const patience = { leastMs: 300, mostMs: 2_500, cutInCostMs: 2_500 };
  const detection = { threshold: 0.5, prefixPaddingMs: 300, silenceMs: 500, createsReply: true, interruptsReply: true };
  const settings = { turnDetection: { ...detection, patience } };

  const cutInto = async (soundsMs: number) => {
    const turnDetector = fakeTurnDetector([1]);
    const hears = ['I went to the market and', 'I bought a fish.'];
    const rig = openRig({ says: [twoClauses, 'Indeed.'], hears, turnDetector, settings });
    await rig.speak(600);
    while (rig.of('reply-audio').length === 0) await rig.silence(20);
    await rig.silence(soundsMs);
    await rig.speak(700);
    await rig.silence(1_500);
    return { ...rig, turnDetector };
  };

  it('leaves nothing in the history if the user continues within 600 ms of its first sound', async () => {
    const rig = await cutInto(300);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('cancelled');
    expect(rig.of('item-truncated')).toMatchObject([{ heardMs: 0 }]);
    expect(rig.agent.histories[1]).toEqual([
      { role: 'user', text: 'I went to the market and' },
      { role: 'user', text: 'I bought a fish.' },
    ]);
  });

  it('does not end the turn: the turn detector is asked about all of it', async () => {
    const rig = await cutInto(300);
    expect(rig.turnDetector.asked.at(-1)).toBe('I went to the market and I bought a fish.');
  });

  it('stays in the history, as far as it was heard, if the user speaks later', async () => {
    const rig = await cutInto(1_100);
    expect(rig.of('item-truncated')).toHaveLength(0);
    expect(rig.agent.histories[1]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(rig.turnDetector.asked.at(-1)).toBe('I bought a fish.');
  });

  it('a reply whose item the client has deleted can be interrupted', async () => {
    const rig = openRig({ says: [twoClauses], hears: ['I went to the market and', 'I bought a fish.'], settings });
    await rig.speak(600);
    while (rig.of('reply-audio').length === 0) await rig.silence(20);
    rig.session.send({ type: 'item-delete', id: rig.of('reply-item')[0]?.item.id ?? '' });
    await rig.speak(700);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('cancelled');
  });

  it('stays in the history if it is not an answer', async () => {
    const rig = await speaking({ hears: ['stop talking to me now'] });
    await rig.speak(600);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('cancelled');
    expect(rig.of('item-truncated')).toHaveLength(0);
  });
});
