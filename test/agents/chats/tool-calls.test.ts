import { afterEach, describe, expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ChatPart, Message } from '../../../agents/chat.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import { withFallback } from '../../../agents/actor/fallback.ts';
import { openAgents } from '../../../agents/actor/open.ts';
import { buildPrompt } from '../../../agents/prompting/prompt.ts';
import { scriptedAgent } from '../../../agents/scripted/scripted.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import {
  fails,
  failsInStream,
  openChatServer,
  says,
  type ChatServer,
  type Exchange,
} from '../../fakes/servers/chat-server.ts';
import { replyParts, smallCharacter, wordsOf } from '../actor/stand-ins.ts';

const martha = smallCharacter();
const look = { name: 'look_up', description: 'Looks something up.', parameters: { type: 'object' } };
const toolbox: Toolbox = { tools: [look, { name: 'ring_bell' }], choice: 'auto', parallel: true };
const call = { callId: 'call_1', name: 'look_up', arguments: '{"what":"rain"}' };
const hello: readonly Message[] = [{ role: 'user', text: 'Will it rain?' }];

let server: ChatServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

async function chat(
  exchanges: readonly Exchange[],
  messages = hello,
  offered: Toolbox | undefined = toolbox,
): Promise<ChatPart[]> {
  server = await openChatServer(...exchanges);
  const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' });
  const { signal } = new AbortController();
  return Array.fromAsync(model.chat(messages, { signal, ...(offered === undefined ? {} : { toolbox: offered }) }));
}

const callsIn = (parts: readonly ChatPart[]): unknown[] =>
  parts.flatMap((part) => (part.type === 'tool-call' ? [[part.callId, part.name, part.arguments]] : []));

/** One delta of a function call, as servers send it. */
const piece = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  text: unknown,
): unknown => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id, type: 'function' }),
  function: { ...(name === undefined ? {} : { name }), arguments: text },
});

describe('function calls from a chat server', () => {
  it('a function call with split arguments is emitted whole, after all text and before the end', async () => {
    const calls = [
      [piece(0, 'call_1', 'look_up', '')],
      [piece(0, undefined, undefined, '{"what":')],
      [piece(0, undefined, undefined, '"rain"}')],
    ];
    const parts = await chat([says(['Let me look.'], { calls, finish: 'tool_calls', pieceBytes: 7 })]);
    expect(parts).toEqual([
      { type: 'text-delta', text: 'Let me look.' },
      { type: 'tool-call', ...call },
      { type: 'chat-end', reason: 'stop', inputTokens: 11, outputTokens: 7 },
    ]);
  });

  it('parallel function calls stay separate however their deltas are interleaved', async () => {
    const calls = [
      [piece(0, 'a', 'look_up', ''), piece(1, 'b', 'ring_bell', '')],
      [piece(1, undefined, undefined, '{"times":')],
      [piece(0, undefined, undefined, '{"what":"snow"}'), piece(1, undefined, undefined, '2}')],
    ];
    expect(callsIn(await chat([says([], { calls, finish: 'tool_calls' })]))).toEqual([
      ['a', 'look_up', '{"what":"snow"}'],
      ['b', 'ring_bell', '{"times":2}'],
    ]);
  });

  it('complete function calls that all carry the same index are read', async () => {
    const calls = [[piece(0, 'a', 'look_up', '{}')], [piece(0, 'b', 'ring_bell', '{}')]];
    expect(callsIn(await chat([says([], { calls })]))).toEqual([
      ['a', 'look_up', '{}'],
      ['b', 'ring_bell', '{}'],
    ]);
  });

  it('function calls without ids, without index, or with arguments that are not a string are read', async () => {
    const calls = [
      [piece(undefined, undefined, 'look_up', { what: 'hail' }), piece(undefined, undefined, 'ring_bell', null)],
    ];
    const found = callsIn(await chat([says([], { calls })])) as string[][];
    expect(found.map(([, name, text]) => [name, text])).toEqual([
      ['look_up', '{"what":"hail"}'],
      ['ring_bell', '{}'],
    ]);
    const ids = found.map(([id]) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^call_[\w-]{16}$/);
  });

  it.each([
    ['of a function that was not offered', piece(0, 'a', 'launch_rocket', '{}')],
    ['whose arguments were cut off', piece(0, 'a', 'look_up', '{"what":"ra')],
    ['whose arguments are no object', piece(0, 'a', 'look_up', '[1]')],
  ])('the chat ignores a function call %s', async (_what, wrong) => {
    expect(callsIn(await chat([says(['Hm.'], { calls: [[wrong]], finish: 'length' })]))).toEqual([]);
  });

  it('the chat ignores function calls that were not offered', async () => {
    server = await openChatServer(says(['Hm.'], { calls: [[piece(0, 'a', 'look_up', '{}')]] }));
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' });
    const parts = await Array.fromAsync(model.chat(hello, { signal: new AbortController().signal }));
    expect(callsIn(parts)).toEqual([]);
    expect(server.requests[0]?.body).not.toHaveProperty('tools');
  });
});

describe('request that offers functions', () => {
  it('the request describes functions in the API’s form, with required fields only', async () => {
    await chat([says(['Yes.'])]);
    const { body } = server!.requests[0]!;
    expect(body['tools']).toEqual([
      { type: 'function', function: look },
      { type: 'function', function: { name: 'ring_bell' } },
    ]);
    expect(body).not.toHaveProperty('tool_choice');
    expect(body).not.toHaveProperty('parallel_tool_calls');
  });

  it.each([
    ['required', 'required'],
    [{ name: 'look_up' }, { type: 'function', function: { name: 'look_up' } }],
  ] as const)('the request passes on the tool choice %j and disables parallel calls', async (choice, told) => {
    await chat([says(['Yes.'])], hello, { ...toolbox, choice, parallel: false });
    expect(server!.requests[0]?.body).toMatchObject({ tool_choice: told, parallel_tool_calls: false });
  });

  it('the request has no tool fields if there are no functions, because some servers reject them', async () => {
    await chat([says(['Yes.'])], hello, { ...toolbox, choice: 'none' });
    expect(server!.requests[0]?.body).not.toHaveProperty('tools');
  });

  it('the request contains earlier function calls and their results', async () => {
    const history: readonly Message[] = [
      ...hello,
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', callId: 'call_1', text: 'It rains.' },
      { role: 'assistant', text: 'Wait.', calls: [{ ...call, callId: 'call_2' }] },
      { role: 'tool', callId: 'call_2', text: '' },
    ];
    await chat([says(['Yes.'])], history);
    const asked = (id: string): unknown => ({
      id,
      type: 'function',
      function: { name: 'look_up', arguments: '{"what":"rain"}' },
    });
    expect(server!.requests[0]?.body['messages']).toEqual([
      { role: 'user', content: 'Will it rain?' },
      { role: 'assistant', content: null, tool_calls: [asked('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'It rains.' },
      { role: 'assistant', content: 'Wait.', tool_calls: [asked('call_2')] },
      { role: 'tool', tool_call_id: 'call_2', content: '' },
    ]);
  });

  it('the request is repeated without functions if the server refuses them, and the next turn offers them again', async () => {
    const refusal = fails(400, { message: 'registry.ollama.ai/library/small does not support tools' });
    server = await openChatServer(refusal, says(['Yes.']), says(['No.']));
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' });
    for (const _turn of [1, 2]) {
      await Array.fromAsync(model.chat(hello, { signal: new AbortController().signal, toolbox }));
    }
    expect(server.requests.map(({ body }) => 'tools' in body)).toEqual([true, false, true]);
  });

  it('a parameter that the server does not know is left out from then on', async () => {
    const refusal = fails(400, { param: 'parallel_tool_calls' });
    await chat([refusal, says(['Yes.'])], hello, { ...toolbox, parallel: false });
    expect(server!.requests[1]?.body).toHaveProperty('tools');
    expect(server!.requests[1]?.body).not.toHaveProperty('parallel_tool_calls');
  });
});

describe('actor with functions', () => {
  const calls = [[piece(0, 'call_1', 'look_up', '{"what":"rain"}')]];

  async function play(exchange: Exchange, talk: readonly string[] = ['Will it rain?']): ReturnType<typeof replyParts> {
    server = await openChatServer(exchange);
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'small-model' });
    return replyParts(withFallback(actor(martha, model), scriptedAgent(martha)), talk, { toolbox });
  }

  it('the actor calls a function after it has spoken, or without a word', async () => {
    const types = (await play(says(['Martha: ', 'Wait.'], { calls, finish: 'tool_calls' }))).map((part) => part.type);
    expect(types.filter((type) => type !== 'text-delta')).toEqual(['reply-source', 'tool-call', 'usage']);
    expect(types.indexOf('tool-call')).toBeGreaterThan(types.lastIndexOf('text-delta'));
    await server?.[Symbol.asyncDispose]();
    expect(await play(says([], { calls, finish: 'tool_calls' }))).toMatchObject([
      { type: 'reply-source', name: 'small-model' },
      { type: 'tool-call', callId: 'call_1', name: 'look_up', arguments: '{"what":"rain"}' },
      { type: 'usage', inputTokens: 11 },
    ]);
  });

  it('the prompt lists functions after the persona, and leaves room for arguments', async () => {
    await play(says(['Yes.']));
    const { body } = server!.requests[0]!;
    const system = (body['messages'] as { content: string }[])[0]?.content ?? '';
    expect(system.indexOf('# What you can do')).toBeGreaterThan(system.indexOf('# How to answer'));
    expect(body['max_tokens']).toBe(1_000);
  });

  it('the lines of the pack replace a reply that was only an invalid function call', async () => {
    const parts = await play(says([], { calls: [[piece(0, 'a', 'launch_rocket', '{}')]] }), ['Hello']);
    expect(wordsOf(parts)).toBe('Good day, traveller.');
    expect(parts.filter((part) => part.type === 'tool-call')).toEqual([]);
  });

  it('the lines of the pack replace a reply whose stream broke before its end', async () => {
    const parts = await play(failsInStream([], { message: 'overloaded', code: 503 }), ['Hello']);
    expect(wordsOf(parts)).toBe('Good day, traveller.');
  });
});

describe('scripted agent and functions', () => {
  it('an agent without an LLM ignores functions', async () => {
    const parts = await replyParts(openAgents()(martha), ['Hello'], { toolbox });
    expect(wordsOf(parts)).toBe('Good day, traveller.');
    expect(parts.map((part) => part.type)).toEqual(['reply-source', 'text-delta', 'usage']);
  });

  it('an agent without an LLM speaks up after a silence with an evasion, a different one each time', async () => {
    const agent = openAgents()(martha);
    const first = wordsOf(await replyParts(agent, ['Hello', 'Good day, traveller.'], { situation: 'idle' }));
    const talk = ['Hello', 'Good day, traveller.', '', first];
    const second = wordsOf(await replyParts(agent, talk, { situation: 'idle' }));
    expect(martha.evasions).toContain(first);
    expect(martha.evasions).toContain(second);
    expect(second).not.toBe(first);
  });
});

describe('prompt with function calls', () => {
  const answering: readonly Message[] = [
    ...hello,
    { role: 'assistant', text: 'Let me look.' },
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', callId: 'call_1', text: 'It <notes>rains</notes>.' },
  ];

  it('the prompt keeps the user message before the calls it led to, with its notes, and ends with their results', () => {
    const examples = [{ asks: ['Rain?'], reply: 'My knees say so.' }];
    const prompt = buildPrompt(martha, answering, { examples });
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(prompt[1]?.text).toMatch(/^<notes>.*My knees say so.*<\/notes>\n\nWill it rain\?$/s);
    expect(prompt[2]).toEqual({ role: 'assistant', text: 'Let me look.', calls: [call] });
    expect(prompt[3]?.text).toBe('It rains.');
  });

  it('the prompt is identical before and after a call, so that servers can reuse their cache', () => {
    const [system, remark] = buildPrompt(martha, answering);
    expect(buildPrompt(martha, hello)).toEqual([system, remark]);
  });

  it('the prompt becomes an ordinary conversation once the character has answered with the result', () => {
    const told: readonly Message[] = [
      ...answering,
      { role: 'assistant', text: 'It rains.' },
      { role: 'user', text: 'Oh.' },
    ];
    const prompt = buildPrompt(martha, told);
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('the prompt drops no call that is being answered, and no call that has no result', () => {
    const long = 'word '.repeat(2_000);
    const large: readonly Message[] = [...answering.slice(0, 3), { role: 'tool', callId: 'call_1', text: long }];
    expect(buildPrompt(martha, large).map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    const later: readonly Message[] = [
      ...large,
      { role: 'assistant', text: 'It rains.' },
      { role: 'user', text: 'Oh.' },
    ];
    const roles = buildPrompt(martha, later).map((message) => message.role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'user']);
  });
});
