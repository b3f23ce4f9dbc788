import { describe, expect, it } from 'vitest';
import { textOf } from '../../../server/session/contract/item.ts';
import { openRig } from '../../rigs/session-rig.ts';

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
  it('holds the reply at once when a sound comes over it', async () => {
    const rig = await speaking({ stopsAtOnce: true, hears: [''] });
    await rig.silence(400);
    await rig.speak(130);
    expect(rig.of('reply-held')).toHaveLength(1);
    const sentMs = rig.sentMs();
    await rig.speak(200);
    expect(rig.sentMs()).toBe(sentMs);
    expect(rig.of('speech-started')).toHaveLength(0);
  });

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

  it('resumes the reply after a cough and does not hold it again for the next', async () => {
    const rig = await speaking({ stopsAtOnce: true, hears: [''] });
    await rig.silence(300);
    await rig.speak(200);
    await rig.silence(600);
    await rig.speak(200);
    await rig.silence(2_500);
    expect(rig.of('reply-held')).toHaveLength(1);
    expect(rig.of('reply-resumed')).toHaveLength(1);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
  });

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

  it('cancels the reply for words over it and keeps what was heard in the history', async () => {
    const rig = await speaking({ stopsAtOnce: true, hears: ['wait a moment'] });
    await rig.silence(500);
    await rig.speak(400);
    expect(rig.of('reply-ended')[0]?.end).toMatchObject({ status: 'cancelled', reason: 'turn_detected' });
    expect(rig.said()).toMatch(/^One two three four, five six( seven)?$/);
    await rig.silence(900);
    expect(rig.agent.histories.at(-1)?.at(-1)).toEqual({ role: 'user', text: 'wait a moment' });
  });

  it('cancels the reply for a long sound without recognizable words', async () => {
    const rig = await speaking({ stopsAtOnce: true, hears: [''] });
    await rig.silence(300);
    await rig.speak(700);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('cancelled');
    expect(rig.of('speech-started')).toHaveLength(1);
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
