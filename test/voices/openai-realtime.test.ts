import { describe, expect, it } from 'vitest';
import type { Care } from '../../voices/calls/care.ts';
import { openContext } from '../../voices/calls/context.ts';
import type { OmniMessage, OmniModel } from '../../voices/omni.ts';
import { adapter } from '../../voices/omnis/openai-realtime.ts';
import { omniConformance } from '../conformance/omni.ts';
import { secretKey, type Opened } from '../conformance/upstream.ts';
import { openRealtimeServer } from '../fakes/realtime-server.ts';
import { tone } from '../fakes/vad.ts';
import { serve } from '../server/serve-rig.ts';

const signal = new AbortController().signal;

function openAt(url: string, options: Record<string, unknown> = {}, care: Care = {}) {
  const settings = adapter.settings.parse({ baseUrl: `${url}/v1`, model: 'gpt-realtime', ...options });
  const wish = { ...care, timeouts: { connectMs: 500, ...care.timeouts } };
  return adapter.open(settings, openContext('omni', { key: secretKey, care: [wish, adapter.care?.(settings)] }));
}

omniConformance({
  title: 'openai-realtime',
  says: /^Good evening, my friend\.$/,
  behindServer: true,
  open: async (care): Promise<Opened<OmniModel>> => {
    const server = await openRealtimeServer();
    const engine = openAt(server.url, {}, care);
    return {
      engine,
      upstream: { server, route: 'WS /v1/realtime' },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
});

const talk: readonly OmniMessage[] = [
  { role: 'system', text: 'You are Martha.' },
  { role: 'assistant', text: 'Good evening to you.' },
  { role: 'user', text: '', sound: { samples: tone(500, 16_000), sampleRate: 16_000 } },
];

describe('a Realtime API as an engine', () => {
  it('is told persona, talk and sound, and that the turns are ours', async () => {
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
  ])('tells the error %s as %s', async (word, code) => {
    await using server = await openRealtimeServer('', word);
    const reading = Array.fromAsync(openAt(server.url).reply(talk, { signal, voice: 'marin', speaks: true }));
    await expect(reading).rejects.toMatchObject({ code, detail: expect.stringContaining(word) as string });
  });

  it('may be another Dramatis', async () => {
    const other = await serve();
    const engine = openAt(other.url, { model: 'alice' });
    const parts = await Array.fromAsync(engine.reply(talk, { signal, voice: 'alice', speaks: true }));
    const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
    expect(text.trim()).toBe('One two three.');
    expect(parts.some(({ type }) => type === 'sound')).toBe(true);
    expect(parts.at(-1)?.type).toBe('omni-end');
  });
});
