import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';

const line = 'One two three four.';

/** A reply of 400 ms that is sent almost at once; the client begins to play it. */
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
    /** The reply in the LLM's history, once the user has finished. */
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

describe('heard position after response.done', () => {
  it('truncates a finished reply to the heard position when the user speaks over its playback', async () => {
    const { heard, interrupt, remembered } = await afterReply();
    heard(60);
    await interrupt();
    heard(250);
    expect(await remembered()).toBe('One two three');
  });

  it('keeps the heard position when a playback report was in flight as the user spoke', async () => {
    const { heard, interrupt, remembered } = await afterReply();
    await interrupt();
    heard(60);
    heard(250);
    expect(await remembered()).toBe('One two three');
  });

  it('estimates the heard position since the last playback report if the client stops reporting', async () => {
    const { wire, heard, interrupt, remembered } = await afterReply();
    await wire.clock.advance(100);
    heard(120);
    await interrupt();
    // The VAD needs two or three windows of 32 ms.
    expect(await remembered()).toMatch(/^One two( three)?$/);
  });

  it.each<[string, Record<string, unknown>, readonly ('speaks over it' | number)[]]>([
    ['the client plays it to its end', {}, [60, 'speaks over it', 210, 400]],
    ['the user does not interrupt', {}, [60, 210]],
    ['speech does not interrupt', { interrupt_response: false }, [60, 'speaks over it', 210]],
    ['the client never reports playback', {}, ['speaks over it']],
  ])('keeps the whole reply if %s', async (_if, turnDetection, events) => {
    const { wire, heard, interrupt, remembered } = await afterReply(turnDetection);
    for (const event of events) await (event === 'speaks over it' ? interrupt() : heard(event));
    if (!events.includes('speaks over it')) await wire.stream(silence(1_000));
    expect(await remembered()).toBe(line);
  });

  it('keeps the client’s own truncation, regardless of later reports', async () => {
    const { wire, heard, itemId, interrupt, remembered } = await afterReply();
    heard(60);
    await interrupt();
    heard(250);
    wire.send({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: 150 });
    heard(300);
    expect(await remembered()).toBe('One two');
  });

  it('keeps as much audio of an interrupted reply as was heard', async () => {
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
