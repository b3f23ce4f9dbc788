import { describe, expect, it } from 'vitest';
import { calmFeelings } from '../../agents/feelings.ts';
import { connect } from './wire-rig.ts';

const write = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

async function answered(wire: ReturnType<typeof connect>) {
  wire.send({ type: 'response.create' });
  await wire.clock.advance(8_000);
  return wire.last('response.done').response.x_dramatis.feelings;
}

describe('the mood of a session', () => {
  it('is moved by what is said to the character, told with each reply, and rests with time', async () => {
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

  it('is given to the mind', async () => {
    const wire = connect({ says: ['One two three.'] });
    wire.send(write('My friend is dead.'));
    await answered(wire);
    expect(wire.engines.agent.asked.at(-1)?.feelings?.emotions.sadness).toBeGreaterThan(1);
    await wire.hangUp();
  });
});
