import { describe, expect, it } from 'vitest';
import type { ChatModel, ChatPart, Message } from '../../../agents/chat.ts';
import { llamaFunctions, llamaHistory } from '../../../agents/chats/llama-history.ts';
import { adapter, type LlamaReply, type LlamaRequest } from '../../../agents/chats/node-llama-cpp.ts';
import type { Toolbox } from '../../../agents/tools.ts';
import type { CallCost } from '../../../voices/calls/calls.ts';
import { openProcess } from '../../../voices/runtime/process.ts';
import { chatConformance } from '../../conformance/chat.ts';
import { alone } from '../../conformance/upstream.ts';
import { isInstalled } from '../../fakes/models/installed.ts';
import { tinyGguf } from '../../fakes/models/tiny-gguf.ts';
import { tinyFiles } from '../../fakes/models/tiny-model.ts';
import { keptForTests, openEngine } from '../../rigs/voice-engine-rig.ts';

const { signal } = new AbortController();
const reason = new Error('the user spoke');
const { folder, keep } = await keptForTests();

const files = tinyFiles(folder);
// One thread: several threads that share a busy CPU wait for each other at each token.
const settings = { threads: 1, contextSize: 512, gpu: 'off' };
const martha = await files.write('martha.gguf', tinyGguf(['I', ' keep', ' the', ' house', '.']));
const endless = await files.write('endless.gguf', tinyGguf(['la', ' la', ' laa', ' lala'], { neverEnds: true }));
const caller = await files.write('caller.gguf', tinyGguf(['||call: ']));

const open = (given: Record<string, unknown>, log?: (cost: CallCost) => void) =>
  keep(openEngine(adapter, { ...settings, ...given }, {}, log));

const talk: readonly Message[] = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'user', text: 'Good evening.' },
];
const chat = (model: ChatModel, messages: readonly Message[], options = {}): Promise<ChatPart[]> =>
  Array.fromAsync(model.chat(messages, { signal, ...options }));
const textOf = (parts: readonly ChatPart[]): string =>
  parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');

describe.skipIf(!isInstalled('node-llama-cpp'))('optional package node-llama-cpp', async () => {
  const kept = open({ model: martha });
  chatConformance({
    title: 'llama.cpp in process',
    says: /^I keep the house\.$/,
    open: async () => alone(kept),
  });

  describe('llama.cpp in process', () => {
    it('llama.cpp streams text and counts prompt and completion tokens', async () => {
      const costs: CallCost[] = [];
      const parts = await chat(
        open({ model: martha }, (cost) => costs.push(cost)),
        talk,
      );
      expect(parts.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(2);
      expect(parts.at(-1)).toMatchObject({ type: 'chat-end', reason: 'stop', outputTokens: 6 });
      expect(costs).toMatchObject([{ outcome: 'ok', outputTokens: 6 }]);
      expect(costs[0]?.inputTokens).toBeGreaterThan(20);
    });

    it('llama.cpp stops at its token limit and at a stop text', async () => {
      const engine = open({ model: endless, maxTokens: 30 });
      const [usual, two, until] = [
        await chat(engine, talk),
        await chat(engine, talk, { maxTokens: 2 }),
        await chat(engine, talk, { stop: [' lala'] }),
      ];
      expect(usual.at(-1)).toMatchObject({ type: 'chat-end', reason: 'length', outputTokens: 30 });
      expect(two.at(-1)).toMatchObject({ type: 'chat-end', reason: 'length', outputTokens: 2 });
      expect(textOf(until)).toBe('la la laa');
      expect(until.at(-1)).toMatchObject({ reason: 'stop' });
    });

    it('llama.cpp stops on an abort and serves the next conversation', async () => {
      const engine = open({ model: endless, talks: 1, maxTokens: 30_000 });
      const controller = new AbortController();
      const listen = async (): Promise<void> => {
        for await (const _part of engine.chat(talk, { signal: controller.signal })) controller.abort(reason);
      };
      await expect(listen()).rejects.toBe(reason);
      expect(textOf(await chat(engine, talk, { maxTokens: 2 }))).toBe('la la');
    });

    it('llama.cpp evaluates only the new part of a prompt, in each of several conversations', async () => {
      const llama = keep(
        openProcess<LlamaRequest, LlamaReply>({
          name: 'llama',
          url: new URL('../../../agents/chats/node-llama-cpp-worker.ts', import.meta.url),
          data: { name: 'llama', settings: adapter.settings.parse({ ...settings, model: martha }) },
        }),
      );
      const say = async (messages: readonly Message[]) => {
        const request = { kind: 'chat', messages, sampling: {}, maxTokens: 20 } as const;
        const end = (await Array.fromAsync(llama.stream(request, { signal }))).at(-1);
        return end?.type === 'end' ? end : undefined;
      };
      const other = talk.map((message) => ({ ...message, text: `${message.text} And so on.` }));
      const first = await say(talk);
      expect(first?.readTokens).toBe(first?.inputTokens);
      await say(other);
      for (const begun of [talk, other]) {
        const longer: readonly Message[] = [
          ...begun,
          { role: 'assistant', text: 'I keep the house.' },
          { role: 'user', text: 'Really?' },
        ];
        const second = await say(longer);
        expect(second?.inputTokens).toBeGreaterThan(first?.inputTokens ?? Infinity);
        expect(second?.readTokens).toBeLessThan((second?.inputTokens ?? 0) / 2);
      }
    });

    it('llama.cpp calls a function', async () => {
      const toolbox: Toolbox = {
        tools: [
          {
            name: 'open_door',
            description: 'Opens the door.',
            parameters: { type: 'object', properties: { wide: { type: 'boolean' } }, required: ['wide'] },
          },
        ],
        choice: 'auto',
        parallel: false,
      };
      const parts = await chat(open({ model: caller, contextSize: 2_048 }), talk, { toolbox, maxTokens: 200 });
      const [call] = parts.filter((part) => part.type === 'tool-call');
      expect(call).toMatchObject({ name: 'open_door', callId: expect.stringMatching(/^call_/) });
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ wide: expect.any(Boolean) });
      expect(parts.at(-1)?.type).toBe('chat-end');
    });

    it('doctor can inspect the model, and reports its chat template', async () => {
      expect(await kept.check?.({ signal })).toContain('chat template ChatML');
    });
  });

  describe('llama.cpp weights', () => {
    it.each([
      ['that nobody has pinned', { model: { path: martha.path } }, `"model": ${martha.sha256}`],
      ['that are another file', { model: { path: martha.path, sha256: endless.sha256 } }, 'damaged or truncated'],
      ['that are missing', { model: { path: `${martha.path}.gone`, sha256: martha.sha256 } }, 'cannot be read'],
    ])('llama.cpp reports weights that cannot be used: %s', async (_name, given, says) => {
      const failure = { code: 'ENGINE_MISSING', detail: expect.stringContaining(says) };
      await expect(chat(open(given), talk)).rejects.toMatchObject(failure);
    });

    it('llama.cpp refuses one part of split weights because the other parts are not verified', () => {
      const model = { path: 'llama-00001-of-00004.gguf', sha256: martha.sha256 };
      expect(adapter.settings.safeParse({ model }).error?.issues[0]?.message).toContain('--merge');
    });

    it('truncated weights that were trusted fail the engine and nothing else', async () => {
      const model = await files.write('cut.gguf', tinyGguf(['I', ' keep']).subarray(0, 20_000));
      await expect(chat(open({ model }), talk)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
      const none = await files.write('none.gguf', 'no model at all');
      await expect(chat(open({ model: none }), talk)).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    });
  });
});

describe('llama.cpp chat history', () => {
  const call = { callId: 'call_1', name: 'open_door', arguments: '{"wide":true}' };

  it('the llama.cpp history continues after the result of a function call', () => {
    const messages: readonly Message[] = [
      ...talk,
      { role: 'assistant', text: 'Wait.', calls: [call] },
      { role: 'tool', callId: 'call_1', text: 'done' },
    ];
    expect(llamaHistory(messages)).toEqual([
      { type: 'system', text: 'You are Martha.' },
      { type: 'user', text: 'Good evening.' },
      {
        type: 'model',
        response: ['Wait.', { type: 'functionCall', name: 'open_door', params: { wide: true }, result: 'done' }],
      },
    ]);
  });

  it('the llama.cpp history ends with an answer to be written', () => {
    expect(llamaHistory(talk).at(-1)).toEqual({ type: 'model', response: [] });
    expect(llamaHistory(talk.slice(0, 1)).map(({ type }) => type)).toEqual(['system', 'model']);
  });

  it('the llama.cpp history offers the functions that may be called', () => {
    const tools = [{ name: 'open_door' }, { name: 'light_candle', description: 'Lights it.' }];
    const offered = (choice: Toolbox['choice']) => Object.keys(llamaFunctions({ tools, choice, parallel: true }) ?? {});
    expect(offered('auto')).toEqual(['open_door', 'light_candle']);
    expect(offered({ name: 'light_candle' })).toEqual(['light_candle']);
    expect(offered('none')).toEqual([]);
    expect(llamaFunctions(undefined)).toBeUndefined();
  });
});
