import { describe, expect, it } from 'vitest';
import { serve } from '../../../rigs/serve-rig.ts';
import { dial, singing, type NodeCaller } from '../../../rigs/webrtc-rig.ts';

const words = Array.from({ length: 40 }, (_, index) => `word${index}`);

/** The words, 100 ms each, that have begun after this time. */
const begunBy = (ms: number): string => words.slice(0, Math.ceil(ms / 100)).join(' ');

/** A call whose reply was sent completely four seconds before its playback ends; some of it has been heard. */
async function callWithTail() {
  const server = await serve({ engines: singing({ says: [words.join(' ')] }), flags: { playoutAheadMs: '5000' } });
  const { caller } = await dial(server);
  caller.send({ type: 'session.update', session: { type: 'realtime' } });
  await caller.until('session.updated');
  caller.send({ type: 'response.create' });
  const { response } = await caller.until('response.done');
  expect(response.status).toBe('completed');
  await caller.untilHeard(300);
  return { caller, response };
}

/** The heard position of the reply as truncated, checked for plausibility. */
async function heardMs(caller: NodeCaller, itemId: string): Promise<number> {
  const truncated = await caller.until('conversation.item.truncated');
  expect(truncated).toMatchObject({ item_id: itemId, content_index: 0 });
  expect(truncated.audio_end_ms).toBeGreaterThanOrEqual(300);
  expect(truncated.audio_end_ms).toBeLessThan(3_000);
  return truncated.audio_end_ms as number;
}

describe('WebRTC reply that is sent and still plays', () => {
  it('truncates a sent WebRTC reply when the client clears the output buffer', async () => {
    const { caller, response } = await callWithTail();
    caller.send({ type: 'output_audio_buffer.clear' });
    expect(await caller.until('output_audio_buffer.cleared')).toMatchObject({ response_id: response.id });
    const itemId = response.output[0].id as string;
    const ms = await heardMs(caller, itemId);
    caller.send({ type: 'conversation.item.retrieve', item_id: itemId });
    const { item } = await caller.until('conversation.item.retrieved');
    expect(item.content[0].transcript).toBe(begunBy(ms));
    expect(caller.events.filter(({ type }) => type === 'error')).toEqual([]);
    caller.expectOrder();
  });

  it('clears the output buffer without an error if the client has deleted the item', async () => {
    const { caller, response } = await callWithTail();
    caller.send({ type: 'conversation.item.delete', item_id: response.output[0].id });
    await caller.until('conversation.item.deleted');
    caller.send({ type: 'output_audio_buffer.clear' });
    await caller.until('output_audio_buffer.cleared');
    caller.send({ type: 'input_audio_buffer.clear' });
    await caller.until('input_audio_buffer.cleared');
    expect(caller.events.filter(({ type }) => /error|truncated/.test(type))).toEqual([]);
  });
});

describe('out-of-band WebRTC reply', () => {
  it('clears an out-of-band WebRTC reply although the conversation has no item for it', async () => {
    const server = await serve({ engines: singing({ says: [words.join(' ')] }), flags: { playoutAheadMs: '5000' } });
    const { caller } = await dial(server);
    caller.send({ type: 'response.create', response: { conversation: 'none' } });
    await caller.until('output_audio_buffer.started');
    await caller.until('response.done');
    caller.send({ type: 'output_audio_buffer.clear' });
    await caller.until('output_audio_buffer.cleared');
    caller.send({ type: 'input_audio_buffer.clear' });
    await caller.until('input_audio_buffer.cleared');
    expect(caller.events.filter(({ type }) => /error|truncated/.test(type))).toEqual([]);
  });
});
