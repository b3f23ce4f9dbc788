import { afterEach, describe, expect, it } from 'vitest';
import type { ChatPart, ChatSettings } from '../../../agents/chat.ts';
import { openOpenaiChat, type OpenaiChatOptions } from '../../../agents/chats/openai-chat.ts';
import type { EngineError } from '../../../voices/engine.ts';
import {
  diesAfter,
  fails,
  failsInStream,
  hangs,
  openChatServer,
  says,
  sends,
  type ChatServer,
  type Exchange,
} from '../../fakes/servers/chat-server.ts';

const secret = 'sk-very-secret';
const remark = 'my private remark';
let server: ChatServer | undefined;

afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

async function serve(...exchanges: readonly Exchange[]): Promise<ChatServer> {
  server = await openChatServer(...exchanges);
  return server;
}

async function chat(
  from: Pick<ChatServer, 'baseUrl'>,
  settings: ChatSettings = {},
  options: Partial<OpenaiChatOptions> = {},
): Promise<{ text: string; parts: ChatPart[]; error: EngineError | undefined }> {
  const model = openOpenaiChat({ baseUrl: from.baseUrl, model: 'small-model', apiKey: secret, ...options });
  const parts: ChatPart[] = [];
  let error: EngineError | undefined;
  try {
    const call = { signal: new AbortController().signal, ...settings };
    for await (const part of model.chat([{ role: 'user', text: remark }], call)) parts.push(part);
  } catch (cause) {
    error = cause as EngineError;
  }
  return { text: parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join(''), parts, error };
}

describe('chat with an OpenAI-compatible server', () => {
  it('the chat sends model, messages, settings and API key', async () => {
    const { requests } = await serve(says(['Yes.']));
    await chat(
      { baseUrl: server?.baseUrl ?? '' },
      { temperature: 0.5, topP: 0.9, maxTokens: 40, seed: 3, stop: ['END'] },
    );
    expect(requests[0]).toEqual({
      path: '/v1/chat/completions',
      authorization: `Bearer ${secret}`,
      body: {
        model: 'small-model',
        messages: [{ role: 'user', content: remark }],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.5,
        top_p: 0.9,
        max_tokens: 40,
        seed: 3,
        stop: ['END'],
      },
    });
  });

  it('the chat works without an API key', async () => {
    const { text } = await chat(await serve(says(['Yes.'])), {}, { apiKey: '' });
    expect(text).toBe('Yes.');
  });

  it('a finished reply counts as whole, with or without [DONE] and usage', async () => {
    const { parts } = await chat(await serve(says(['Yes.'], { done: false, usage: false })));
    expect(parts.at(-1)).toEqual({ type: 'chat-end', reason: 'stop', inputTokens: 0, outputTokens: 0 });
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'filter'],
  ] as const)('the finish reason %s becomes the end %s', async (finish, reason) => {
    const { parts } = await chat(await serve(says(['Well'], { finish })));
    expect(parts.at(-1)).toMatchObject({ type: 'chat-end', reason });
  });

  it('reasoning text is not spoken', async () => {
    const thinking = says(['<thi', 'nk>She is lying', '</th', 'ink>\n\nPray ', 'continue.'], { thoughts: ['Hm.'] });
    expect((await chat(await serve(thinking))).text).toBe('Pray continue.');
  });

  it('a control token leaked into the text ends the reply', async () => {
    const { text, parts } = await chat(await serve(says(['Yes.', '<|eot', '_id|>assistant', ' Yes.'])));
    expect(text).toBe('Yes.');
    expect(parts.at(-1)).toMatchObject({ type: 'chat-end', reason: 'stop' });
  });

  it('a parameter that the server refused is not sent again', async () => {
    const refusal = fails(400, { message: "extra field 'stream_options' is not permitted" });
    const { baseUrl, requests } = await serve(refusal, says(['Yes.']));
    const model = openOpenaiChat({ baseUrl, model: 'small-model' });
    for (const _turn of [1, 2]) {
      const parts = await Array.fromAsync(model.chat([], { signal: new AbortController().signal }));
      expect(parts[0]).toEqual({ type: 'text-delta', text: 'Yes.' });
    }
    expect(requests.map(({ body }) => 'stream_options' in body)).toEqual([true, false, false]);
  });

  it('a refusal that names a parameter we did not send is not taken for a parameter error', async () => {
    const { baseUrl, requests } = await serve(fails(400, { message: 'please stop, seed and all' }));
    const model = openOpenaiChat({ baseUrl, model: 'small-model' });
    const answer = Array.fromAsync(model.chat([], { signal: new AbortController().signal }));
    await expect(answer).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
    expect(requests).toHaveLength(1);
  });

  it('max_completion_tokens is sent if the model requires it', async () => {
    const { requests } = await serve(fails(400, { param: 'max_tokens' }), says(['Yes.']));
    await chat({ baseUrl: server?.baseUrl ?? '' }, { maxTokens: 40 });
    expect(requests[1]?.body).toMatchObject({ max_completion_tokens: 40 });
    expect(requests[1]?.body).not.toHaveProperty('max_tokens');
  });
});

describe('chat that fails before its first token', () => {
  it('the chat tries twice at most', async () => {
    const { requests } = await serve(fails(500));
    const { error } = await chat({ baseUrl: server?.baseUrl ?? '' });
    expect(error).toMatchObject({ code: 'ENGINE_UNAVAILABLE', retryable: true });
    expect(requests).toHaveLength(2);
  });

  it('the chat does not retry if the server asks for a long pause', async () => {
    const { requests } = await serve(fails(429, { code: 'rate_limit_exceeded' }, { 'retry-after': '30' }));
    const { error } = await chat({ baseUrl: server?.baseUrl ?? '' });
    expect(error?.message).toContain('rate_limit_exceeded');
    expect(requests).toHaveLength(1);
  });

  it.each([
    [401, 'ENGINE_REFUSED', 'DRAMATIS_LLM_API_KEY'],
    [403, 'ENGINE_REFUSED', 'DRAMATIS_LLM_API_KEY'],
    [404, 'ENGINE_REFUSED', 'DRAMATIS_LLM_MODEL'],
    [413, 'ENGINE_REFUSED', '413'],
  ])('HTTP %i is reported with advice and without secrets', async (status, code, hint) => {
    const { requests } = await serve(fails(status, { message: `bad key ${secret} in ${remark}` }));
    const { error } = await chat({ baseUrl: server?.baseUrl ?? '' });
    expect(error).toMatchObject({ name: 'EngineError', code, cause: undefined });
    expect(error?.message).toContain(hint);
    expect(error?.message).not.toContain(secret);
    expect(error?.message).not.toContain(remark);
    expect(requests).toHaveLength(1);
  });

  it('an unknown model is reported by name', async () => {
    expect((await chat(await serve(fails(404)))).error?.message).toContain('"small-model"');
  });

  it('an unreachable server is reported with its address', async () => {
    const { baseUrl } = await serve(hangs());
    await server?.[Symbol.asyncDispose]();
    server = undefined;
    const { error } = await chat({ baseUrl });
    expect(error).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(error?.message).toContain('DRAMATIS_LLM_BASE_URL');
  });

  it.each([
    ['a web page', sends('text/html', '<html>Welcome to nginx</html>')],
    ['a reply that is not streamed', sends('application/json', '{"choices":[{"message":{"content":"Yes."}}]}')],
    ['invalid JSON', sends('text/event-stream', 'data: {"choi\n\n')],
    ['an empty stream', sends('text/event-stream', '')],
    ['something that is no chunk', sends('text/event-stream', 'data: null\n\ndata: 42\n\ndata: [DONE]\n\n')],
    ['an error in its stream', failsInStream([], { message: 'no', type: 'invalid_request_error', code: 400 })],
  ])('%s is reported as ENGINE_BAD_REPLY', async (_name, exchange) => {
    const { requests } = await serve(exchange);
    expect((await chat({ baseUrl: server?.baseUrl ?? '' })).error).toMatchObject({ code: 'ENGINE_BAD_REPLY' });
    expect(requests).toHaveLength(1);
  });
});

describe('chat that fails after its first token', () => {
  it.each([
    ['loses its connection', diesAfter('Good ')],
    ['ends without a finish', says(['Good '], { finish: null, done: false, usage: false })],
    ['is told of an overload', failsInStream(['Good '], { message: 'overloaded', code: 503 })],
  ])('text already received is kept, and the chat does not retry, when the stream %s', async (_name, exchange) => {
    const { requests } = await serve(exchange);
    const { text, error } = await chat({ baseUrl: server?.baseUrl ?? '' });
    expect(text).toBe('Good ');
    expect(error).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(requests).toHaveLength(1);
  });

  it('slow tokens and a slow reader do not time out', async () => {
    const { baseUrl } = await serve(says(['Good ', 'eve', 'ning.'], { gapMs: 5 }));
    const model = openOpenaiChat({ baseUrl, model: 'small-model', stallTimeoutMs: 100 });
    let text = '';
    for await (const part of model.chat([], { signal: new AbortController().signal })) {
      if (part.type === 'text-delta') text += part.text;
      if (text === 'Good ') await new Promise((resolve) => setTimeout(resolve, 130));
    }
    expect(text).toBe('Good evening.');
  });
});

describe('chat that is aborted', () => {
  const reason = new Error('the user spoke');

  it('an abort while the chat waits to retry throws its reason, and nothing is sent again', async () => {
    const { baseUrl, requests } = await serve(fails(503, {}, { 'retry-after': '2' }));
    const controller = new AbortController();
    const model = openOpenaiChat({ baseUrl, model: 'small-model' });
    const reading = Array.fromAsync(model.chat([], { signal: controller.signal }));
    await expect.poll(() => requests.length).toBe(1);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
  });
});
