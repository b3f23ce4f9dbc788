import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { CharacterAgent } from '../../../agents/agent.ts';
import { openAgents } from '../../../agents/actor/open.ts';
import { openOpenaiChat } from '../../../agents/chats/openai-chat.ts';
import type { Character } from '../../../characters/character.ts';
import type { Engines } from '../../../server/engines/engines.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { EngineError } from '../../../voices/engine.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { openChatServer, says } from '../../fakes/servers/chat-server.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { client, failureOf, hangUp } from '../../rigs/serve-rig.ts';

const hello = [{ role: 'user', content: 'Hello' }] as const;

/** The engines with another agent. */
function thinking(agentFor: (character: Character) => CharacterAgent): Engines {
  const engines = fakeEngines();
  const responderFor: Engines['responderFor'] = (character) =>
    cascade({ recognizer: engines.recognizer, agent: agentFor(character), ...engines.voiceOf(character) });
  return { ...engines, responderFor };
}

describe('POST /v1/chat/completions', () => {
  it('answers a chat completion with usage and the name of the LLM', async () => {
    const { openai } = await client();
    const answer = await openai.chat.completions.create({ model: 'alice', messages: [...hello] });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'alice',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'One two three.', refusal: null }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
      x_dramatis: { mind: { name: 'fake-mind' } },
    });
  });

  it('streams a chat completion with usage at its end if wanted', async () => {
    const { openai } = await client(fakeEngines({ says: ['One two three. Four five six.'] }));
    const stream = await openai.chat.completions.create({
      model: 'alice',
      messages: [...hello],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant' });
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('One two three. Four five six.');
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it('puts system messages into the prompt as scene and passes on the token limit', async () => {
    await using llm = await openChatServer(says(['Elementary.']));
    const mind = openAgents([{ model: openOpenaiChat({ baseUrl: llm.baseUrl, model: 'fake' }) }]);
    const { openai } = await client(thinking(mind));
    const answer = await openai.chat.completions.create({
      model: 'gpt-5',
      messages: [
        { role: 'system', content: 'We stand in the rain.' },
        { role: 'user', content: 'What do you see?' },
        { role: 'assistant', content: 'Mud.' },
        { role: 'developer', content: [{ type: 'text', text: 'It is midnight.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What ' },
            { type: 'text', text: 'else?' },
          ],
        },
      ],
      max_completion_tokens: 77,
      temperature: 0.3,
    });
    expect(answer.choices[0]?.message.content).toBe('Elementary.');
    expect(answer.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
    const sent = llm.requests[0]?.body as { messages: { role: string; content: string }[]; max_tokens: number };
    const [system, ...talk] = sent.messages;
    expect(system?.content).toMatch(/Holmes[^]*We stand in the rain\.\nIt is midnight\./);
    expect(talk.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    expect(talk.at(-1)?.content).toContain('What else?');
    expect(JSON.stringify(sent)).toContain('77');
  });

  it('samples as the client asks, and otherwise at the character’s temperature', async () => {
    await using llm = await openChatServer(says(['Elementary.']));
    const { openai } = await client(
      thinking(openAgents([{ model: openOpenaiChat({ baseUrl: llm.baseUrl, model: 'fake' }) }])),
    );
    const ask = (sampling: object): Promise<unknown> =>
      openai.chat.completions.create({ model: 'alice', messages: [...hello], ...sampling });
    await ask({ temperature: 0, top_p: 0.5, seed: -7, stop: 'END' });
    await ask({ temperature: null, top_p: null, seed: null, stop: ['a', 'b'] });
    await ask({ stop: null });
    const sent = llm.requests.map(({ body: { temperature, top_p, seed, stop } }) => [temperature, top_p, seed, stop]);
    expect(sent).toEqual([
      [0, 0.5, -7, ['END']],
      [0.8, undefined, undefined, ['a', 'b']],
      [0.8, undefined, undefined, undefined],
    ]);
  });

  it('reports a completion cut by the token limit in its finish reason', async () => {
    await using llm = await openChatServer(says(['Elementary, my'], { finish: 'length' }));
    const { openai } = await client(
      thinking(openAgents([{ model: openOpenaiChat({ baseUrl: llm.baseUrl, model: 'fake' }) }])),
    );
    const answer = await openai.chat.completions.create({ model: 'alice', messages: [...hello], max_tokens: 3 });
    expect(answer.choices[0]?.finish_reason).toBe('length');
  });

  it('reports a completion stopped by a content filter in its finish reason', async () => {
    await using llm = await openChatServer(says(['First you take'], { finish: 'content_filter' }));
    const { openai } = await client(
      thinking(openAgents([{ model: openOpenaiChat({ baseUrl: llm.baseUrl, model: 'fake' }) }])),
    );
    const asked = { model: 'alice', messages: [...hello] };
    const answer = await openai.chat.completions.create(asked);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: 'First you take' },
    });
    const chunks = await Array.fromAsync(await openai.chat.completions.create({ ...asked, stream: true }));
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('content_filter');
  });

  it('greets if there is no user message yet', async () => {
    const engines = fakeEngines();
    const { openai } = await client(engines);
    await openai.chat.completions.create({ model: 'alice', messages: [{ role: 'system', content: 'Noon.' }] });
    expect(engines.agent.situations).toEqual(['greeting']);
    expect(engines.agent.histories).toEqual([[]]);
  });

  it('answers as the default character for stock models and refuses unknown ones', async () => {
    const { openai } = await client(thinking((character) => fakeAgent([`I am ${character.id}.`])));
    const ask = (model: string): Promise<OpenAI.ChatCompletion> =>
      openai.chat.completions.create({ model, messages: [...hello] });
    expect((await ask('gpt-4o-mini')).choices[0]?.message.content).toBe('I am sherlock-holmes.');
    expect((await ask('alice')).choices[0]?.message.content).toBe('I am alice.');
    expect(await failureOf(ask('nobody'))).toEqual({ status: 404, code: 'unknown_character', param: 'model' });
    expect(await failureOf(ask('scene:nowhere'))).toEqual({ status: 404, code: 'unknown_scene', param: 'model' });
  });

  const bad: [what: string, body: unknown, code: string, param: string][] = [
    ['no messages', { model: 'alice' }, 'invalid_event', 'messages'],
    ['an empty conversation', { messages: [] }, 'invalid_value', 'messages'],
    ['an unknown role', { messages: [{ role: 'ghost', content: 'boo' }] }, 'invalid_value', 'messages.0.role'],
    [
      'a text too long',
      { messages: [{ role: 'user', content: 'x'.repeat(20_001) }] },
      'text_too_long',
      'messages.0.content',
    ],
    ['several choices', { messages: hello, n: 2 }, 'invalid_value', 'n'],
    ['a temperature out of range', { messages: hello, temperature: 3 }, 'invalid_value', 'temperature'],
    ['top_p above one', { messages: hello, top_p: 1.1 }, 'invalid_value', 'top_p'],
    ['a fractional seed', { messages: hello, seed: 0.5 }, 'invalid_event', 'seed'],
    ['five stop sequences', { messages: hello, stop: ['a', 'b', 'c', 'd', 'e'] }, 'invalid_value', 'stop'],
    ['an empty stop sequence', { messages: hello, stop: '' }, 'invalid_value', 'stop.0'],
  ];
  it('refuses an invalid chat completion and names the field', async () => {
    const { ask } = await client();
    for (const [what, body, code, param] of bad) {
      const { status, body: refused } = await ask('/v1/chat/completions', { body });
      expect([status, refused.error.code, refused.error.param], `with ${what}`).toEqual([400, code, param]);
      expect(refused.error.message.length, `with ${what}`).toBeLessThan(400);
    }
  });

  it('reports an engine failure by status before the first word and in the stream after it', async () => {
    const broken = new EngineError('llm', 'ENGINE_TIMEOUT', 'it said nothing for 10 seconds');
    const { openai, log } = await client(fakeEngines({ says: [broken] }));
    const asking = openai.chat.completions.create({ model: 'alice', messages: [...hello], stream: true });
    expect(await failureOf(asking as Promise<unknown>)).toMatchObject({ status: 504, code: 'ENGINE_TIMEOUT' });
    const late = thinking((character) => ({
      character,
      async *reply() {
        yield { type: 'reply-source', name: 'late' };
        yield { type: 'text-delta', text: 'Once upon a time there was a fox. And ' };
        throw broken;
      },
    }));
    const second = await client(late);
    const stream = await second.openai.chat.completions.create({ model: 'alice', messages: [...hello], stream: true });
    expect(await failureOf(Array.fromAsync(stream))).toMatchObject({ code: 'ENGINE_TIMEOUT' });
    expect([...log, ...second.log].join('')).not.toContain('fox');
  });

  for (const stream of [false, true]) {
    it(`cancels a ${stream ? 'streamed' : 'whole'} chat completion when the client disconnects`, async () => {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const waiting = thinking((character) => ({
        character,
        async *reply(_history, { signal }) {
          yield { type: 'reply-source', name: 'slow' };
          yield { type: 'text-delta', text: 'Well, now. ' };
          begun.resolve();
          await new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }).finally(() => ended.resolve());
        },
      }));
      const { port, log, ask } = await client(waiting, { maxRequests: '1' });
      const body = JSON.stringify({ messages: hello, stream });
      await hangUp(port, '/v1/chat/completions', body, begun.promise, ended.promise);
      const next = async (): Promise<number> => (await ask('/v1/chat/completions', { body: {} })).status;
      await expect.poll(next).toBe(400);
      expect(log.join('')).not.toContain('"level":50');
    });
  }
});
