import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../../agents/feelings.ts';
import type { MessageItem } from '../../../server/session/contract/item.ts';
import type { ReplyEnd } from '../../../server/session/contract/events.ts';
import { Moods } from '../../../server/session/history/participants.ts';
import { ManualClock } from '../../fakes/clock.ts';
import { connect } from '../../rigs/connection-rig.ts';

const write = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

async function answered(wire: ReturnType<typeof connect>) {
  wire.send({ type: 'response.create' });
  await wire.clock.advance(8_000);
  return wire.last('response.done').response.x_dramatis.feelings;
}

describe('mood of a session', () => {
  it('changes the character’s mood by what the user says, reports it with each reply and lets it decay', async () => {
    const wire = connect({ says: ['One two three.'] });
    const calm = await answered(wire);
    expect(calm).toEqual({ ...calmFeelings.emotions, intimacy: calmFeelings.intimacy });
    wire.send(write('You are a liar and a fool!'));
    wire.send(write('And a coward. Shut up!'));
    const angry = await answered(wire);
    expect(angry.anger).toBeGreaterThan(4);
    expect(angry.intimacy).toBeLessThan(calm.intimacy);
    await wire.clock.advance(600_000);
    expect((await answered(wire)).anger).toBe(0);
    await wire.hangUp();
  });

  it('passes the mood to the LLM', async () => {
    const wire = connect({ says: ['One two three.'] });
    wire.send(write('My friend is dead.'));
    await answered(wire);
    expect(wire.engines.agent.asked.at(-1)?.feelings?.emotions.sadness).toBeGreaterThan(1);
    await wire.hangUp();
  });
});

describe('Moods', () => {
  const cast = [
    { id: 'a', name: 'Alice' },
    { id: 'h', name: 'Sherlock Holmes' },
  ];
  const line = (speaker: (typeof cast)[number], text: string, emotion?: 'sad'): MessageItem => ({
    id: text,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    speaker,
    emotion,
    content: [{ type: 'text', text }],
  });
  const [alice, holmes] = cast as [(typeof cast)[number], (typeof cast)[number]];

  it('changes the mood of the addressed character, else of the last speaker, else of everyone', () => {
    const play = (): Moods => {
      const moods = new Moods(new ManualClock(), cast);
      moods.note({ type: 'transcript-final', itemId: 'u', text: 'What a wonderful garden!', audioMs: 900 });
      moods.note({
        type: 'reply-item-ended',
        replyId: 'r',
        item: line(alice, 'Shut up, Holmes, you liar!'),
        cut: false,
      });
      moods.note({ type: 'transcript-final', itemId: 'v', text: 'Stupid!', audioMs: 500 });
      return moods;
    };
    const moods = play();
    expect(moods.now('h').emotions).toMatchObject({ happiness: 4, anger: 3 });
    // The user named nobody; she had spoken last.
    expect(moods.now('a').emotions).toMatchObject({ happiness: 4, anger: 3 });
    expect(play().ofCast).toEqual(moods.ofCast);
  });

  it('makes an interrupted character angry and continues from the moods of the history', () => {
    const moods = new Moods(new ManualClock(), cast, [line(holmes, 'My dog is dead.', 'sad')]);
    expect(moods.now('h').emotions.sadness).toBe(2);
    expect(moods.now('a').emotions.sadness).toBeGreaterThan(1);
    moods.note({ type: 'reply-item-ended', replyId: 'r', item: line(alice, 'But he was—'), cut: false });
    const end = { status: 'cancelled', reason: 'turn_detected' } as ReplyEnd;
    moods.note({ type: 'reply-ended', replyId: 's', end, item: line(holmes, 'Old'), calls: [] });
    expect([moods.now('a').emotions.anger, moods.now('h').emotions.anger]).toEqual([1, 1]);
    expect(moods.now('environment')).toEqual(calmFeelings);
  });
});
