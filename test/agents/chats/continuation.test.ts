import { afterEach, describe, expect, it } from 'vitest';
import { openOpenaiChat, type OpenaiChatOptions } from '../../../agents/chats/openai-chat.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { actor } from '../../../agents/actor/actor.ts';
import { skipHeard } from '../../../server/responders/skip-heard.ts';
import { fails, openChatServer, says, sends, type ChatServer, type Exchange } from '../../fakes/servers/chat-server.ts';
import { characters } from '../../rigs/serve-rig.ts';

let server: ChatServer | undefined;

afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

const begun = 'The distinction is clear. You see, but you';
const rest = [' do not', ' observe.'];
const { signal } = new AbortController();

/** The model list of a server, which names it as the owner. */
function models(owner: string): Exchange {
  return sends('application/json', JSON.stringify({ object: 'list', data: [{ id: 'm', owned_by: owner }] }));
}

async function textWith(
  exchanges: readonly Exchange[],
  options: Partial<OpenaiChatOptions> = {},
): Promise<{ readonly text: string; readonly requests: ChatServer['requests'] }> {
  server = await openChatServer(...exchanges);
  const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'm', ...options });
  let text = '';
  for await (const part of model.chat([{ role: 'user', text: 'So?' }], { signal, begun }))
    if (part.type === 'text-delta') text += part.text;
  return { text, requests: server.requests };
}

function messagesOf(request: ChatServer['requests'][number] | undefined): readonly unknown[] {
  return (request?.body['messages'] ?? []) as unknown[];
}

describe('an answer that was begun before', () => {
  it.each(['vllm', 'sglang'])('is continued by %s, which names itself in its list of models', async (owner) => {
    const { text, requests } = await textWith([models(owner), says(rest)]);
    expect(text).toBe(`${begun} do not observe.`);
    expect(requests.map(({ path }) => path)).toEqual(['/v1/models', '/v1/chat/completions']);
    expect(requests[1]?.body).toMatchObject({ continue_final_message: true, add_generation_prompt: false });
    expect(messagesOf(requests[1]).at(-1)).toEqual({ role: 'assistant', content: begun });
  });

  it('is the last message for llama.cpp, with no further field', async () => {
    const { text, requests } = await textWith([models('llamacpp'), says(rest)]);
    expect(text).toBe(`${begun} do not observe.`);
    expect(requests[1]?.body).not.toHaveProperty('continue_final_message');
  });

  it('is marked as a prefix if the settings say so, and not said twice if the server repeats it', async () => {
    const { text, requests } = await textWith([says([begun.slice(0, 20), begun.slice(20), ...rest])], {
      continues: 'prefix',
    });
    expect(text).toBe(`${begun} do not observe.`);
    expect(messagesOf(requests[0]).at(-1)).toMatchObject({ content: begun, prefix: true });
  });

  it.each([
    ['says nothing of itself', [models('openai'), says(['Anew.'])], {}],
    ['lists no models', [fails(404), says(['Anew.'])], {}],
    ['refuses to continue', [fails(400), says(['Anew.'])], { continues: 'last_message' }],
    ['is said never to continue', [says(['Anew.'])], { continues: 'never' }],
  ] as const)('is answered afresh by a server that %s', async (_what, exchanges, options) => {
    const { text, requests } = await textWith(exchanges, options);
    expect(text).toBe('Anew.');
    expect(messagesOf(requests.at(-1)).length).toBe(1);
  });

  it('goes on in mid-sentence when a character is cut by a restart', async () => {
    server = await openChatServer(says(rest));
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'm', continues: 'continue_final_message' });
    const alice = characters.get('alice');
    if (alice === undefined) throw new Error('no alice');
    const parts = withGuardrail(actor(alice, model)).reply([{ role: 'user', text: 'So?' }], { signal, heard: begun });
    let said = '';
    for await (const part of skipHeard(parts, begun)) if (part.type === 'text-delta') said += part.text;
    expect(said).toBe('do not observe.');
  });

  it('is corrected without its beginning if its continuation breaks the role', async () => {
    server = await openChatServer(says([' cannot, as an AI language model.']), says(['You do not observe.']));
    const model = openOpenaiChat({ baseUrl: server.baseUrl, model: 'm', continues: 'continue_final_message' });
    const alice = characters.get('alice');
    if (alice === undefined) throw new Error('no alice');
    const parts = withGuardrail(actor(alice, model)).reply([{ role: 'user', text: 'So?' }], { signal, heard: begun });
    let said = '';
    for await (const part of skipHeard(parts, begun)) if (part.type === 'text-delta') said += part.text;
    expect(said).not.toContain('language model');
    expect(server.requests.map(({ body }) => 'continue_final_message' in body)).toEqual([true, false]);
  });
});
