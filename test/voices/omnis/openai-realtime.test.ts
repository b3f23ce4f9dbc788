import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { openContext } from '../../../voices/calls/context.ts';
import type { OmniMessage, OmniModel } from '../../../voices/omni.ts';
import { adapter } from '../../../voices/omnis/openai-realtime.ts';
import { omniConformance } from '../../conformance/omni.ts';
import { secretKey, type Opened } from '../../conformance/upstream.ts';
import { openRealtimeServer, realtimeRoute, type RealtimeShape } from '../../fakes/servers/realtime-server.ts';
import { tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

const signal = new AbortController().signal;

const bases = { openai: '/v1', beta: '/v1', qwen: '/api-ws/v1', glm: '/api/paas/v4' } as const;

function openAt(
  url: string,
  options: { readonly dialect?: RealtimeShape } & Record<string, unknown> = {},
  care: CallPolicy = {},
) {
  const baseUrl = `${url}${bases[options.dialect ?? 'openai']}`;
  const settings = adapter.settings.parse({ baseUrl, model: 'gpt-realtime', ...options });
  const wish = { ...care, timeouts: { connectMs: 500, ...care.timeouts } };
  return adapter.open(
    settings,
    openContext('omni', { key: secretKey, callPolicy: [wish, adapter.callPolicy?.(settings)] }),
  );
}

for (const dialect of ['openai', 'beta', 'qwen', 'glm'] as const) {
  omniConformance({
    title: `openai-realtime (${dialect})`,
    says: /^Good evening, my friend\.$/,
    behindServer: true,
    open: async (care): Promise<Opened<OmniModel>> => {
      const server = await openRealtimeServer(undefined, undefined, dialect);
      return {
        engine: openAt(server.url, { dialect }, care),
        upstream: { server, route: realtimeRoute(dialect) },
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
  });
}

const talk: readonly OmniMessage[] = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'assistant', text: 'Good evening to you.' },
  { role: 'user', text: '', sound: { samples: tone(500, 16_000), sampleRate: 16_000 } },
];

describe('Realtime API as an engine', () => {
  it('the Realtime engine gets persona, conversation and audio, and does no turn detection itself', async () => {
    await using server = await openRealtimeServer();
    await Array.fromAsync(openAt(server.url).reply(talk, { signal, voice: 'marin', speaks: true, maxTokens: 90 }));
    expect(server.requests[0]?.query.get('model')).toBe('gpt-realtime');
    expect(server.told).toMatchObject([
      {
        session: {
          type: 'realtime',
          instructions: 'You are Martha.',
          output_modalities: ['audio'],
          audio: { input: { turn_detection: null }, output: { voice: 'marin' } },
        },
      },
      { item: { role: 'assistant', content: [{ type: 'output_text', text: 'Good evening to you.' }] } },
      { item: { role: 'user', content: [{ type: 'input_audio' }] } },
      { type: 'response.create', response: { max_output_tokens: 90 } },
    ]);
  });

  it.each([
    ['invalid_api_key', 'ENGINE_REFUSED'],
    ['invalid_value', 'ENGINE_REFUSED'],
    ['rate_limit_exceeded', 'ENGINE_UNAVAILABLE'],
  ])('the Realtime engine reports the error %s as %s', async (word, code) => {
    await using server = await openRealtimeServer('', word);
    const reading = Array.fromAsync(openAt(server.url).reply(talk, { signal, voice: 'marin', speaks: true }));
    await expect(reading).rejects.toMatchObject({ code, detail: expect.stringContaining(word) as string });
  });

  it('the beta Realtime API is used in its own event shapes', async () => {
    await using server = await openRealtimeServer(undefined, undefined, 'beta');
    const engine = openAt(server.url, { dialect: 'beta', extra: { temperature: 0.7 } });
    await Array.fromAsync(engine.reply(talk, { signal, voice: 'sage', speaks: true, maxTokens: 90 }));
    expect(server.requests[0]?.headers['openai-beta']).toBe('realtime=v1');
    expect(server.told).toMatchObject([
      {
        session: {
          modalities: ['text', 'audio'],
          instructions: 'You are Martha.',
          voice: 'sage',
          input_audio_format: 'pcm16',
          turn_detection: null,
          temperature: 0.7,
        },
      },
      { item: { role: 'assistant', content: [{ type: 'text', text: 'Good evening to you.' }] } },
      { item: { role: 'user', content: [{ type: 'input_audio' }] } },
      { type: 'response.create', response: { max_response_output_tokens: 90 } },
    ]);
  });

  it.each([
    ['qwen', { input_audio_format: 'pcm16', turn_detection: null }],
    ['glm', { model: 'gpt-realtime', input_audio_format: 'wav', turn_detection: { type: 'client_vad' } }],
  ] as const)(
    'the Realtime API of %s gets the conversation in its instructions and the speech by its buffer',
    async (dialect, session) => {
      await using server = await openRealtimeServer(undefined, undefined, dialect);
      await Array.fromAsync(openAt(server.url, { dialect }).reply(talk, { signal, speaks: true }));
      expect(server.requests[0]?.headers).not.toHaveProperty('openai-beta');
      expect(server.told[0]).toMatchObject({
        session: { instructions: 'You are Martha.\n\nWhat was said so far:\nYou: Good evening to you.', ...session },
      });
      const types = server.told.slice(1).map(({ type }) => type);
      expect(types).toEqual(['input_audio_buffer.append', 'input_audio_buffer.commit', 'response.create']);
      const heard = Buffer.from(server.told[1]?.['audio'] as string, 'base64');
      // 500 ms at 16 kHz.
      expect(heard.length - (dialect === 'glm' ? 44 : 0)).toBe(16_000);
    },
  );

  it('the Realtime API of qwen gets typed text as an item', async () => {
    await using server = await openRealtimeServer(undefined, undefined, 'qwen');
    const written: readonly OmniMessage[] = [{ role: 'user', text: 'Good evening.' }];
    await Array.fromAsync(openAt(server.url, { dialect: 'qwen' }).reply(written, { signal, speaks: true }));
    expect(server.told[1]).toMatchObject({
      item: { role: 'user', content: [{ type: 'input_text', text: 'Good evening.' }] },
    });
  });

  it.each(['openai', 'beta'] as const)('the Realtime engine may be another Dramatis, as %s', async (dialect) => {
    const other = await serve();
    const engine = openAt(other.url, { model: 'alice', dialect });
    const parts = await Array.fromAsync(engine.reply(talk, { signal, voice: 'alice', speaks: true }));
    const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
    expect(text.trim()).toBe('One two three.');
    expect(parts.some(({ type }) => type === 'sound')).toBe(true);
    expect(parts.at(-1)?.type).toBe('omni-end');
  });
});
