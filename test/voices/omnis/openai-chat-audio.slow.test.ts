import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { OmniPart } from '../../../voices/omni.ts';
import { adapter } from '../../../voices/omnis/openai-chat-audio.ts';
import { omniConformance } from '../../conformance/omni.ts';
import { behind, secretKey } from '../../conformance/upstream.ts';
import { openChatAudioServer, type ChatAudioShape } from '../../fakes/servers/chat-audio-server.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { tone } from '../../fakes/vad.ts';
import { openEngine } from '../../rigs/voice-engine-rig.ts';

const signal = new AbortController().signal;
const route = 'POST /v1/chat/completions';

function openAt(server: EngineServer, options: Record<string, unknown> = {}, care: CallPolicy = {}) {
  return openEngine(adapter, { baseUrl: `${server.url}/v1`, model: 'gpt-audio', ...options }, care);
}

const shapes: readonly (readonly [string, ChatAudioShape])[] = [
  ['openai', 'openai'],
  ['dashscope', 'dashscope'],
  ['dashscope', 'dashscope-transcript'],
  ['dashscope', 'both'],
  ['vllm-omni', 'vllm-omni'],
  ['vllm-omni', 'late'],
];
for (const [dialect, shape] of shapes) {
  omniConformance({
    title: `openai-chat-audio (${dialect}, ${shape})`,
    says: /^Good evening, my friend\.$/,
    behindServer: true,
    open: async (care) => {
      const server = await openChatAudioServer(shape);
      return behind(openAt(server, { dialect }, care), server, route);
    },
  });
}

const talk = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'user', text: 'Notes.', sound: { samples: tone(300, 16_000), sampleRate: 16_000 } },
] as const;

async function asked(options: Record<string, unknown>): Promise<Record<string, unknown>> {
  await using server = await openChatAudioServer();
  const parts: OmniPart[] = [];
  for await (const part of openAt(server, options).reply(talk, { signal, voice: 'ash', speaks: true }))
    parts.push(part);
  expect(parts.at(-1)).toEqual({ type: 'omni-end', reason: 'stop', inputTokens: 60, outputTokens: 40 });
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secretKey}`);
  return server.requests[0]?.json() ?? {};
}

describe('request for a spoken reply', () => {
  it('OpenAI gets bare base64 and is asked for PCM, the only format it streams', async () => {
    const request = await asked({});
    expect(request).toMatchObject({ modalities: ['text', 'audio'], audio: { voice: 'ash', format: 'pcm16' } });
    const wav = Buffer.from(/"data":"([^"]+)"/.exec(JSON.stringify(request))?.[1] ?? '', 'base64');
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('Alibaba Cloud gets a data URL', async () => {
    const request = await asked({ dialect: 'dashscope' });
    expect(JSON.stringify(request)).toContain('"data":"data:;base64,UklGR');
    expect(request).toMatchObject({ audio: { voice: 'ash', format: 'wav' }, stream: true });
  });

  it('vLLM-Omni gets the voice as its speaker', async () => {
    expect(await asked({ dialect: 'vllm-omni' })).toMatchObject({ speaker: 'ash' });
  });

  it('a default voice is requested if none is named', async () => {
    await using server = await openChatAudioServer();
    await Array.fromAsync(openAt(server).reply(talk, { signal, speaks: true }));
    expect(server.requests[0]?.json()).toMatchObject({ audio: { voice: 'alloy' } });
  });

  it('Qwen2.5-Omni gets the persona before the conversation', async () => {
    const { messages } = await asked({ personaIn: 'user', system: 'You are Qwen.' });
    expect(messages).toMatchObject([
      { role: 'system', content: 'You are Qwen.' },
      { role: 'user', content: [{ type: 'text', text: 'You are Martha.\n\nNotes.' }, { type: 'input_audio' }] },
    ]);
  });
});

describe('omni model', () => {
  it('an omni model that answers without audio is reported', async () => {
    await using server = await openChatAudioServer('mute');
    const reading = Array.fromAsync(openAt(server).reply(talk, { signal, voice: 'ash', speaks: true }));
    await expect(reading).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
      detail: expect.stringContaining('without audio'),
    });
  });
});
