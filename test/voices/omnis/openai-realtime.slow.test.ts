import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { OmniMessage } from '../../../voices/omni.ts';
import { adapter } from '../../../voices/omnis/openai-realtime.ts';
import { omniConformance } from '../../conformance/omni.ts';
import { behind } from '../../conformance/upstream.ts';
import { openRealtimeServer, realtimeRoute, type RealtimeShape } from '../../fakes/servers/realtime-server.ts';
import { tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { openEngine, promptly } from '../../rigs/voice-engine-rig.ts';

const signal = new AbortController().signal;

const bases = { openai: '/v1', beta: '/v1', speaches: '/v1', qwen: '/api-ws/v1', glm: '/api/paas/v4' } as const;

function openAt(
  url: string,
  options: { readonly dialect?: RealtimeShape } & Record<string, unknown> = {},
  care: CallPolicy = {},
) {
  const baseUrl = `${url}${bases[options.dialect ?? 'openai']}`;
  return openEngine(adapter, { baseUrl, model: 'gpt-realtime', ...options }, promptly(care));
}

for (const dialect of ['openai', 'beta', 'speaches', 'qwen', 'glm'] as const) {
  omniConformance({
    title: `openai-realtime (${dialect})`,
    says: /^Good evening, my friend\.$/,
    behindServer: true,
    open: async (care) => {
      const server = await openRealtimeServer(undefined, undefined, dialect);
      return behind(openAt(server.url, { dialect }, care), server, realtimeRoute(dialect));
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

  it('speaches replies although it knows no audio in items, no audio formats and no session without a VAD', async () => {
    await using server = await openRealtimeServer(undefined, undefined, 'speaches');
    const engine = openAt(server.url, { dialect: 'speaches' });
    const parts = await Array.fromAsync(engine.reply(talk, { signal, voice: 'af_bella', speaks: true, maxTokens: 90 }));
    expect(parts.at(-1)).toMatchObject({ type: 'omni-end', reason: 'stop' });
    expect(server.told).toMatchObject([
      {
        session: {
          modalities: ['text', 'audio'],
          instructions: 'You are Martha.',
          voice: 'af_bella',
          turn_detection: { threshold: 1, create_response: true },
          max_response_output_tokens: 90,
        },
      },
      { item: { role: 'assistant', content: [{ type: 'text', text: 'Good evening to you.' }] } },
      { type: 'input_audio_buffer.append' },
      // Its own turn detection makes the response, after the transcript.
      { type: 'input_audio_buffer.commit' },
    ]);
    // 500 ms at 24 kHz.
    expect(Buffer.from(server.told[2]?.['audio'] as string, 'base64').length).toBe(24_000);
  });

  it('doctor finds a speaches that has lost its first event under load', async () => {
    await using server = await openRealtimeServer(undefined, undefined, 'speaches');
    await expect(openAt(server.url, { dialect: 'speaches' }).check?.({ signal })).resolves.toContain('opens sessions');
  });

  it('speaches replies to typed text after a spoken message', async () => {
    await using server = await openRealtimeServer(undefined, undefined, 'speaches');
    const written: readonly OmniMessage[] = [...talk, { role: 'user', text: 'Good evening.' }];
    const reading = openAt(server.url, { dialect: 'speaches' }).reply(written, { signal, speaks: true });
    expect((await Array.fromAsync(reading)).at(-1)).toMatchObject({ type: 'omni-end' });
    const types = server.told.slice(1).map(({ type }) => type);
    expect(types).toEqual(['conversation.item.create', 'conversation.item.create', 'response.create']);
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
