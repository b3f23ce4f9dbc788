import { describe, expect, it } from 'vitest';
import { adapter } from '../../../agents/chats/openai-chat.ts';
import type { CallCost } from '../../../voices/calls/calls.ts';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { chatConformance } from '../../conformance/chat.ts';
import { alone, behind } from '../../conformance/upstream.ts';
import { replyEvents } from '../../fakes/servers/chat-server.ts';
import { openEngineServer, type EngineServer } from '../../fakes/servers/engine-server.ts';
import { openEngine } from '../../rigs/voice-engine-rig.ts';
import { fakeChat } from '../actor/stand-ins.ts';

const signal = new AbortController().signal;

function openServer(): Promise<EngineServer> {
  return openEngineServer({
    'POST /v1/chat/completions': () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: replyEvents(['Good ', 'evening, ', '先生。']),
    }),
    'GET /v1/models': () => ({ headers: { 'content-type': 'application/json' }, body: '{"data":[{"id":"llama"}]}' }),
  });
}

function openAt(
  server: EngineServer,
  options: Record<string, unknown> = {},
  care: CallPolicy = {},
  log?: (cost: CallCost) => void,
) {
  return openEngine(adapter, { baseUrl: `${server.url}/v1`, model: 'llama', ...options }, care, log);
}

chatConformance({
  title: 'the fake',
  says: /^Come in\.$/,
  open: async () => alone(fakeChat(['Come ', 'in.'])),
});

chatConformance({
  title: 'openai-chat',
  says: /^Good evening, 先生。$/,
  behindServer: true,
  async open(care?: CallPolicy) {
    const server = await openServer();
    return behind(openAt(server, {}, care), server, 'POST /v1/chat/completions');
  },
});

describe('chat model of the engines file', () => {
  it('the chat model sends the extra request fields of the engines file', async () => {
    await using server = await openServer();
    await Array.fromAsync(openAt(server, { extra: { stop: ['<|eot_id|>'] } }).chat([], { signal }));
    expect(server.requests[0]?.json()).toMatchObject({ model: 'llama', stop: ['<|eot_id|>'], stream: true });
  });

  it('the chat model logs the cost of a reply without its text', async () => {
    await using server = await openServer();
    const costs: CallCost[] = [];
    await Array.fromAsync(openAt(server, {}, {}, (cost) => costs.push(cost)).chat([], { signal }));
    expect(costs).toMatchObject([{ engine: 'voice', outcome: 'ok', inputTokens: 11, outputTokens: 7 }]);
    expect(JSON.stringify(costs)).not.toContain('evening');
  });

  it('errors of the chat model point to the engines file', async () => {
    await using server = await openServer();
    server.breaks({ kind: 'status', status: 401 });
    const chatting = Array.fromAsync(openAt(server).chat([], { signal }));
    await expect(chatting).rejects.toMatchObject({
      detail: expect.stringContaining('"apiKeyEnv" of the engine "voice"'),
    });
  });

  it('doctor checks whether the chat server has the model', async () => {
    await using server = await openServer();
    expect(await openAt(server).check?.({ signal })).toContain('has llama');
    await expect(openAt(server, { model: 'qwen' }).check?.({ signal })).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
    });
  });
});
