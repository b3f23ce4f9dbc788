import { describe, expect, it } from 'vitest';
import type { CharacterAgent } from '../../../agents/agent.ts';
import { messagesOf } from '../../../server/session/history/conversation.ts';
import type { Item } from '../../../server/session/contract/item.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { ManualClock, settle } from '../../fakes/clock.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { connect } from '../../rigs/connection-rig.ts';

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};
const rain = { callId: 'call_rain', name: 'get_weather', arguments: '{"place":"London"}' };
const sun = { callId: 'call_sun', name: 'get_weather', arguments: '{"place":"Rome"}' };

type Wire = ReturnType<typeof connect>;

function ask(wire: Wire, text: string, response?: unknown): void {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  wire.send({ type: 'conversation.item.create', item });
  wire.send({ type: 'response.create', ...(response === undefined ? {} : { response }) });
}

async function offerTools(wire: Wire, session: Record<string, unknown> = {}): Promise<void> {
  wire.send({ type: 'session.update', session: { type: 'realtime', tools: [weather], ...session } });
  await settle();
}

const bringBack = (call_id: string, output: string): Record<string, unknown> => ({
  type: 'conversation.item.create',
  item: { type: 'function_call_output', call_id, output },
});

describe('function calls', () => {
  it('sends the words and function calls of a reply as its output items', async () => {
    const wire = connect({ says: [{ text: 'Let me look.', calls: [rain, sun] }] });
    await offerTools(wire);
    ask(wire, 'Will it rain?');
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'message', content: [{ transcript: 'Let me look.' }] },
        { type: 'function_call', status: 'completed', call_id: 'call_rain', name: 'get_weather' },
        { type: 'function_call', status: 'completed', call_id: 'call_sun', arguments: '{"place":"Rome"}' },
      ],
    });
    await wire.hangUp();
  });

  it('sends name, arguments and index of each function call and counts its tokens', async () => {
    const wire = connect({ says: [{ calls: [rain, sun] }] });
    await offerTools(wire);
    ask(wire, 'Will it rain?');
    await wire.clock.advance(100);
    const added = wire.events.filter((event) => event.type === 'response.output_item.added');
    expect(added).toMatchObject([
      { output_index: 0, item: { type: 'function_call', status: 'in_progress', arguments: '', call_id: 'call_rain' } },
      { output_index: 1, item: { type: 'function_call', status: 'in_progress', call_id: 'call_sun' } },
    ]);
    expect(wire.last('response.function_call_arguments.done')).toMatchObject({
      output_index: 1,
      item_id: (added[1]!['item'] as { id: string }).id,
      call_id: 'call_sun',
      name: 'get_weather',
      arguments: '{"place":"Rome"}',
    });
    const { usage, output } = wire.last('response.done').response;
    expect(output).toHaveLength(2);
    expect(usage.output_token_details).toEqual({ text_tokens: 5, audio_tokens: 0 });
    await wire.hangUp();
  });

  it('answers with the outputs of function calls once the client asks', async () => {
    const wire = connect({ says: [{ text: 'Let me look.', calls: [rain, sun] }, 'It rains in London.'] });
    await offerTools(wire);
    ask(wire, 'Will it rain?');
    await wire.clock.advance(1_000);
    wire.send(bringBack('call_rain', 'rain'));
    wire.send(bringBack('call_sun', 'sun'));
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(wire.engines.agent.histories[1]).toEqual([
      { role: 'user', text: 'Will it rain?' },
      { role: 'assistant', text: 'Let me look.' },
      { role: 'assistant', text: '', calls: [rain, sun] },
      { role: 'tool', callId: 'call_rain', text: 'rain' },
      { role: 'tool', callId: 'call_sun', text: 'sun' },
    ]);
    expect(wire.last('response.done').response.output[0].content[0].transcript).toBe('It rains in London.');
    await wire.hangUp();
  });

  it('keeps function calls of an out-of-band response out of the conversation', async () => {
    const wire = connect({ says: [{ calls: [rain] }] });
    wire.send({ type: 'response.create', response: { conversation: 'none', input: [], tools: [weather] } });
    await wire.clock.advance(100);
    expect(wire.last('response.done').response).toMatchObject({
      conversation_id: null,
      output: [{ type: 'function_call' }],
    });
    expect(wire.types()).not.toContain('conversation.item.added');
    await wire.hangUp();
  });

  it('drops function calls of an LLM that failed when another one takes over', async () => {
    const agent: CharacterAgent = {
      ...fakeAgent([]),
      async *reply() {
        yield { type: 'reply-source', name: 'model' };
        yield { type: 'tool-call', ...rain };
        yield { type: 'reply-source', name: 'retrieval', because: 'ENGINE_TIMEOUT' };
        yield { type: 'text-delta', text: 'Pray go on.' };
      },
    };
    const voice = { kind: 'preset', id: 'fake' } as const;
    const responder = cascade({ agent, recognizer: fakeRecognizer([]), synthesizer: fakeSynthesizer(), voice });
    const { signal } = new AbortController();
    const trace = new TurnTimings(new ManualClock());
    const parts = responder.reply([], { signal, speaks: true, scene: '', speed: 1, trace });
    expect((await Array.fromAsync(parts)).map((part) => part.type)).toEqual(['reply-source', 'reply-source', 'speech']);
  });
});

describe('tool settings', () => {
  it('returns the tools of the session, passes them to the LLM and clears them with null', async () => {
    const wire = connect({ says: ['Yes.'] });
    expect(wire.events[0]?.['session']).toMatchObject({ tools: [], tool_choice: 'auto', parallel_tool_calls: true });
    const choice = { type: 'function', name: 'get_weather' };
    await offerTools(wire, { tool_choice: choice, parallel_tool_calls: false });
    expect(wire.last('session.updated').session).toMatchObject({
      tools: [weather],
      tool_choice: choice,
      parallel_tool_calls: false,
    });
    ask(wire, 'Hello?');
    await wire.clock.advance(300);
    const { type: _type, ...tool } = weather;
    expect(wire.engines.agent.asked[0]?.toolbox).toEqual({
      tools: [tool],
      choice: { name: 'get_weather' },
      parallel: false,
    });
    wire.send({ type: 'session.update', session: { tools: null, tool_choice: null } });
    ask(wire, 'Hello?');
    await wire.clock.advance(300);
    expect(wire.last('session.updated').session).toMatchObject({ tools: [], tool_choice: 'auto' });
    expect(wire.engines.agent.asked[1]?.toolbox).toBeUndefined();
    await wire.hangUp();
  });

  it('prefers the tools of a single response to those of the session', async () => {
    const wire = connect({ says: ['Yes.'] });
    await offerTools(wire);
    const other = { type: 'function', name: 'open_door' };
    ask(wire, 'a', { tools: [other], tool_choice: 'required' });
    await wire.clock.advance(300);
    ask(wire, 'b', { tool_choice: 'none' });
    await wire.clock.advance(300);
    ask(wire, 'c');
    await wire.clock.advance(300);
    const toolboxes = wire.engines.agent.asked.map((options) => options.toolbox);
    expect(toolboxes).toMatchObject([
      { tools: [{ name: 'open_door' }], choice: 'required' },
      undefined,
      { tools: [{ name: 'get_weather' }], choice: 'auto' },
    ]);
    await wire.hangUp();
  });

  it('keeps tools of other kinds without their secrets and never calls them', async () => {
    const wire = connect({ says: ['Yes.'] });
    const mcp = { type: 'mcp', server_label: 'dice', server_url: 'https://dice.example' };
    await offerTools(wire, { tools: [{ ...mcp, authorization: 'secret', headers: { key: 'secret' } }] });
    expect(wire.last('session.updated').session.tools).toEqual([mcp]);
    ask(wire, 'Hello?');
    await wire.clock.advance(300);
    expect(wire.engines.agent.asked[0]?.toolbox).toBeUndefined();
    await wire.hangUp();
  });

  it.each([
    ['a function without a name', [{ type: 'function' }]],
    ['a schema of 150,000 characters', [{ ...weather, parameters: { texts: Array(3).fill('x'.repeat(50_000)) } }]],
  ])('refuses tools with %s', async (_what, tools) => {
    const wire = connect();
    wire.send({ type: 'session.update', session: { tools } });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value' });
    expect(wire.types()).not.toContain('session.updated');
    await wire.hangUp();
  });
});

describe('history with function calls', () => {
  const said = (id: string, role: 'user' | 'assistant', text: string): Item => ({
    id,
    type: 'message',
    role,
    status: 'completed',
    content: [{ type: 'text', text }],
  });
  const call = (callId: string): Item => ({
    id: `item_${callId}`,
    type: 'call',
    status: 'completed',
    callId,
    name: 'f',
    arguments: '{}',
  });
  const output = (callId: string): Item => ({
    id: `item_${callId}_output`,
    type: 'call-output',
    status: 'completed',
    callId,
    output: callId.toUpperCase(),
  });
  const shapeOf = (items: readonly Item[]): unknown =>
    messagesOf(items).map((message) => {
      if (message.role === 'tool') return `tool ${message.text}`;
      const calls = 'calls' in message ? message.calls?.map(({ callId }) => callId) : undefined;
      return calls === undefined ? `${message.role} ${message.text}` : calls;
    });

  it('places a late function output right after its call in the LLM history', () => {
    expect(shapeOf([said('u', 'user', 'hi'), call('a'), said('v', 'user', 'well?'), output('a')])).toEqual([
      'user hi',
      ['a'],
      'tool A',
      'user well?',
    ]);
  });

  it('informs the LLM that a function call has no result yet', () => {
    expect(shapeOf([said('u', 'user', 'hi'), call('a'), said('v', 'user', 'well?')])).toEqual([
      'user hi',
      ['a'],
      'tool There is no result yet.',
      'user well?',
    ]);
  });

  it('leaves function outputs without a call out of the LLM history', () => {
    expect(shapeOf([said('u', 'user', 'hi'), output('b')])).toEqual(['user hi']);
  });

  it('groups parallel function calls and separates sequential ones in the LLM history', () => {
    expect(shapeOf([call('a'), call('b'), output('b'), output('a')])).toEqual([['a', 'b'], 'tool A', 'tool B']);
    expect(shapeOf([call('a'), output('a'), call('b'), output('b')])).toEqual([['a'], 'tool A', ['b'], 'tool B']);
  });
});
