import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/wire-rig.ts';

const line = 'One two three four.';

/** A reply of 400 ms, made and sent almost at once, which the client begins to play. */
async function afterReply(turnDetection: Record<string, unknown> = {}) {
  const wire = connect({ says: [line, 'Yes?'] });
  const input = { turn_detection: { type: 'server_vad', ...turnDetection } };
  wire.send({ type: 'session.update', session: { audio: { input } } });
  wire.send({ type: 'response.create' });
  // The last slice is due 20 ms after the first.
  await wire.clock.advance(40);
  const { response } = wire.last('response.done');
  expect(response.status).toBe('completed');
  const heard = (ms: number): void =>
    wire.send({ type: 'x_dramatis.heard', response_id: response.id, samples: ms * 24 });
  return {
    wire,
    heard,
    itemId: response.output[0].id as string,
    /** Speaks over what still plays. */
    interrupt: async (): Promise<void> => {
      await wire.stream(tone(160));
      expect(wire.last('input_audio_buffer.speech_started')).toBeDefined();
    },
    /** What the mind is told it has said, once the user has finished. */
    remembered: async (): Promise<string | undefined> => {
      await wire.stream(tone(200));
      await wire.stream(silence(1_200));
      const history = wire.engines.agent.histories.at(-1) ?? [];
      expect(history.at(-1)).toEqual({ role: 'user', text: 'hello there' });
      await wire.hangUp();
      return history.find(({ role }) => role === 'assistant')?.text;
    },
  };
}

describe('what the character remembers of a reply that was made, and not played to its end', () => {
  it('is what the client says was heard, when the user spoke over it', async () => {
    const { heard, interrupt, remembered } = await afterReply();
    heard(60);
    await interrupt();
    heard(250);
    expect(await remembered()).toBe('One two three');
  });

  it('is no less for a report that was on its way when the user spoke', async () => {
    const { heard, interrupt, remembered } = await afterReply();
    await interrupt();
    heard(60);
    heard(250);
    expect(await remembered()).toBe('One two three');
  });

  it('is what can have been heard since the last report, where the client falls silent', async () => {
    const { wire, heard, interrupt, remembered } = await afterReply();
    await wire.clock.advance(100);
    heard(120);
    await interrupt();
    // That it is speech is known after two windows of 32 ms, or three.
    expect(await remembered()).toMatch(/^One two( three)?$/);
  });

  it('is all of it, where the client plays on', async () => {
    const { heard, interrupt, remembered } = await afterReply();
    heard(60);
    await interrupt();
    heard(210);
    heard(400);
    expect(await remembered()).toBe(line);
  });

  it('is all of it, where nobody interrupts', async () => {
    const { wire, heard, remembered } = await afterReply();
    heard(60);
    heard(210);
    await wire.stream(silence(1_000));
    expect(await remembered()).toBe(line);
  });

  it('is all of it, where speech does not interrupt', async () => {
    const { heard, interrupt, remembered } = await afterReply({ interrupt_response: false });
    heard(60);
    await interrupt();
    heard(210);
    expect(await remembered()).toBe(line);
  });

  it('is all of it, where the client never says what it played: it truncates the item, or nobody does', async () => {
    const { interrupt, remembered } = await afterReply();
    await interrupt();
    expect(await remembered()).toBe(line);
  });

  it('is what the client has truncated it to, whatever it tells later', async () => {
    const { wire, heard, itemId, interrupt, remembered } = await afterReply();
    heard(60);
    await interrupt();
    heard(250);
    wire.send({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: 150 });
    heard(300);
    expect(await remembered()).toBe('One two');
  });

  it('is kept with as much of its sound', async () => {
    const { wire, heard, itemId, interrupt } = await afterReply();
    heard(60);
    await interrupt();
    heard(210);
    heard(300);
    wire.send({ type: 'conversation.item.retrieve', item_id: itemId });
    await settle();
    const [part] = wire.last('conversation.item.retrieved').item.content;
    expect(part.transcript).toBe('One two three');
    expect(Buffer.from(part.audio, 'base64').length / 2 / 24).toBe(300);
    await wire.hangUp();
  });
});
