import { describe, expect, it } from 'vitest';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';

type Wire = ReturnType<typeof connect>;

const tenWords = 'One two three four five six seven eight nine ten.';
const call = { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"what":"rain"}' };
const output = { type: 'function_call_output', call_id: 'call_1', output: 'It rains.' };
const mcp = { type: 'mcp_list_tools', server_label: 'dice', tools: [{ name: 'roll', input_schema: {} }] };
const picture = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(100_000)}`, detail: 'low' };

async function add(wire: Wire, item: Record<string, unknown>, previous_item_id?: string): Promise<void> {
  const after = previous_item_id === undefined ? {} : { previous_item_id };
  wire.send({ type: 'conversation.item.create', item, ...after });
  await settle();
}

async function retrieved(wire: Wire, item_id: string): Promise<Record<string, unknown>> {
  wire.send({ type: 'conversation.item.retrieve', item_id });
  await settle();
  return wire.last('conversation.item.retrieved')?.item as Record<string, unknown>;
}

/** Lets the character speak; returns the id of what it says. */
async function speak(wire: Wire, ms: number): Promise<string> {
  wire.send({ type: 'response.create' });
  await wire.clock.advance(ms);
  return wire.last('response.output_item.added').item.id as string;
}

async function truncate(wire: Wire, item_id: string, audio_end_ms: number, content_index = 0): Promise<void> {
  wire.send({ type: 'conversation.item.truncate', item_id, content_index, audio_end_ms });
  await settle();
}

describe('conversation items', () => {
  it.each([
    ['a function call', call],
    ['a function output', output],
    ['a list of MCP tools', mcp],
    ['a system message', { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'It rains.' }] }],
    ['a user message', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] }],
    ['an assistant message', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hm.' }] }],
  ])('keeps and returns an item with its id: %s', async (_what, item) => {
    const wire = connect();
    await add(wire, { ...item, id: 'mine' });
    const kept = { ...item, id: 'mine', object: 'realtime.item', status: 'completed' };
    expect(wire.last('conversation.item.added')).toMatchObject({ previous_item_id: null, item: kept });
    expect(wire.last('conversation.item.done').item).toEqual(kept);
    expect(await retrieved(wire, 'mine')).toEqual(kept);
    wire.send({ type: 'conversation.item.delete', item_id: 'mine' });
    await settle();
    expect(wire.last('conversation.item.deleted').item_id).toBe('mine');
    await wire.hangUp();
  });

  it('inserts items after the item that the client names, and none after an unknown one', async () => {
    const wire = connect();
    await add(wire, { ...call, id: 'a' });
    await add(wire, { ...output, id: 'b' });
    await add(wire, { ...mcp, id: 'c' }, 'root');
    await add(wire, { ...mcp, id: 'd' }, 'a');
    const places = wire.events
      .filter((event) => event.type === 'conversation.item.added')
      .map((event) => [(event['item'] as { id: string }).id, event['previous_item_id']]);
    expect(places).toEqual([
      ['a', null],
      ['b', 'a'],
      ['c', null],
      ['d', 'a'],
    ]);
    await add(wire, { ...mcp, id: 'e' }, 'gone');
    expect(wire.last('error').error).toMatchObject({ code: 'item_not_found', param: 'previous_item_id' });
    expect(await retrieved(wire, 'e')).toBeUndefined();
    expect(wire.last('error').error.code).toBe('item_retrieve_invalid_item_id');
    await wire.hangUp();
  });

  it('creates missing item and call ids', async () => {
    const wire = connect();
    const { call_id: _none, ...nameless } = call;
    await add(wire, nameless);
    const { item } = wire.last('conversation.item.added');
    expect(item.id).toMatch(/^item_/);
    expect(item.call_id).toBe(item.id);
    await wire.hangUp();
  });

  it('hides items from the LLM that only the client understands', async () => {
    const wire = connect();
    await add(wire, mcp);
    await add(wire, { type: 'message', role: 'user', content: [picture, { type: 'input_text', text: 'What is it?' }] });
    await speak(wire, 500);
    expect(wire.engines.agent.histories[0]).toEqual([{ role: 'user', text: 'What is it?' }]);
    await wire.hangUp();
  });

  it('refuses an item of an unknown type', async () => {
    const wire = connect();
    await add(wire, { type: 'computer_call', id: 'x' });
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_event', param: 'item.type' });
    await wire.hangUp();
  });
});

describe('images', () => {
  it('leaves images out of events and returns them whole on retrieve', async () => {
    const wire = connect();
    await add(wire, { id: 'p', type: 'message', role: 'user', content: [picture] });
    expect(wire.last('conversation.item.added').item.content).toEqual([{ type: 'input_image', detail: 'low' }]);
    expect((await retrieved(wire, 'p'))['content']).toEqual([picture]);
    await wire.hangUp();
  });

  it('drops the oldest images beyond the limit but keeps their messages', async () => {
    const wire = connect();
    const large = { type: 'input_image', image_url: 'x'.repeat(6 * 1024 * 1024) };
    for (const id of ['p1', 'p2', 'p3']) await add(wire, { id, type: 'message', role: 'user', content: [large] });
    expect((await retrieved(wire, 'p1'))['content']).toEqual([{ type: 'input_image' }]);
    expect((await retrieved(wire, 'p2'))['content']).toEqual([large]);
    await wire.hangUp();
  });
});

describe('truncation', () => {
  it('truncates an item and its audio to the words that were heard', async () => {
    const wire = connect({ says: [tenWords] });
    const id = await speak(wire, 2_000);
    await truncate(wire, id, 250);
    expect(wire.last('conversation.item.truncated')).toMatchObject({
      item_id: id,
      content_index: 0,
      audio_end_ms: 250,
    });
    const [part] = (await retrieved(wire, id))['content'] as { transcript: string; audio: string }[];
    expect(part?.transcript).toBe('One two three');
    expect(Buffer.from(part?.audio ?? '', 'base64').length).toBe(250 * 48);
    await wire.hangUp();
  });

  it('ignores a truncation beyond the end of an item', async () => {
    const wire = connect({ says: [tenWords] });
    const id = await speak(wire, 2_000);
    await truncate(wire, id, 99_000);
    expect(wire.last('conversation.item.truncated').audio_end_ms).toBe(1_000);
    expect(wire.types()).not.toContain('error');
    await wire.hangUp();
  });

  it('cancels the running response when its item is truncated', async () => {
    const wire = connect({ says: [tenWords, 'Yes.'] });
    const id = await speak(wire, 300);
    await truncate(wire, id, 150);
    const types = wire.types();
    expect(types.indexOf('conversation.item.truncated')).toBeLessThan(types.indexOf('response.done'));
    expect(wire.last('response.done').response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'client_cancelled' },
      output: [{ id, status: 'incomplete', content: [{ transcript: 'One two' }] }],
    });
    await speak(wire, 500);
    expect(wire.engines.agent.histories[1]).toEqual([{ role: 'assistant', text: 'One two' }]);
    await wire.hangUp();
  });

  it('keeps a running response when another item is truncated', async () => {
    const wire = connect({ says: [tenWords] });
    const first = await speak(wire, 2_000);
    await speak(wire, 300);
    await truncate(wire, first, 150);
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response.status).toBe('completed');
    await wire.hangUp();
  });

  it('refuses to truncate an item that the character did not speak', async () => {
    const wire = connect({ says: [tenWords] });
    const spoken = await speak(wire, 2_000);
    await add(wire, {
      id: 'typed',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hm.' }],
    });
    await add(wire, { ...call, id: 'call' });
    for (const [id, index, code, param] of [
      [spoken, 1, 'item_not_spoken', 'content_index'],
      ['typed', 0, 'item_not_spoken', 'item_id'],
      ['call', 0, 'item_not_spoken', 'item_id'],
      ['gone', 0, 'item_not_found', 'item_id'],
    ] as const) {
      await truncate(wire, id, 100, index);
      expect(wire.last('error').error).toMatchObject({ code, param });
    }
    expect(wire.types()).not.toContain('conversation.item.truncated');
    await wire.hangUp();
  });
});

describe('cancel', () => {
  it('refuses to cancel a response that has ended', async () => {
    const wire = connect();
    await speak(wire, 1_000);
    const response_id = wire.last('response.done').response.id as string;
    wire.send({ type: 'response.cancel', response_id, event_id: 'late' });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'response_cancel_not_active', event_id: 'late' });
    // LiveKit's client recognizes the error by the beginning of its message.
    expect(wire.last('error').error.message).toMatch(/^Cancellation failed/);
    await wire.hangUp();
  });

  it('cancels one named response among several', async () => {
    const wire = connect({ says: [tenWords] });
    wire.send({ type: 'response.create', response: { conversation: 'none', input: [] } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(100);
    const [aside, main] = wire.events
      .filter((event) => event.type === 'response.created')
      .map((event) => (event['response'] as { id: string }).id);
    wire.send({ type: 'response.cancel', response_id: aside });
    await wire.clock.advance(2_000);
    const ends = wire.events
      .filter((event) => event.type === 'response.done')
      .map((event) => event['response'] as { id: string; status: string });
    expect(ends.map(({ id, status }) => [id, status])).toEqual([
      [aside, 'cancelled'],
      [main, 'completed'],
    ]);
    await wire.hangUp();
  });
});

describe('audio items', () => {
  it('drops the audio of the oldest items beyond 20 s but keeps their transcripts', async () => {
    const wire = connect({ hears: ['first', 'second'] });
    const content = [{ type: 'input_audio', audio: pcm16FromFloats(tone(15_000)).toString('base64') }];
    await add(wire, { id: 'a', type: 'message', role: 'user', content });
    await settle(40);
    await add(wire, { id: 'b', type: 'message', role: 'user', content });
    await settle(40);
    expect((await retrieved(wire, 'a'))['content']).toMatchObject([{ transcript: 'first', audio: '' }]);
    const [part] = (await retrieved(wire, 'b'))['content'] as { audio: string }[];
    expect(part?.audio.length).toBeGreaterThan(900_000);
    await wire.stream(silence(40));
    await wire.hangUp();
  });
});
