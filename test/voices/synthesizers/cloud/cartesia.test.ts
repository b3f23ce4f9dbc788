import { describe, expect, it } from 'vitest';
import type { CallCost } from '../../../../voices/calls/calls.ts';
import type { CallPolicy } from '../../../../voices/calls/call-policy.ts';
import { adapter } from '../../../../voices/synthesizers/cloud/cartesia.ts';
import { synthesizerConformance } from '../../../conformance/synthesizer.ts';
import { behind, secretKey } from '../../../conformance/upstream.ts';
import {
  cartesiaVoice,
  openCartesiaServer,
  type CartesiaOptions,
  type CartesiaServer,
} from '../../../fakes/servers/cloud/cartesia-server.ts';
import { openEngine, promptly, say } from '../../../rigs/voice-engine-rig.ts';
import { heardIn } from './heard.ts';

const voice = { kind: 'preset', id: cartesiaVoice } as const;
const text = 'Mind the step, it is quite steep.';

function openSonic(server: CartesiaServer, care?: CallPolicy, log?: (cost: CallCost) => void, given = {}) {
  return openEngine(adapter, { baseUrl: server.url.replace('http', 'ws'), ...given }, promptly(care), log);
}

synthesizerConformance({
  title: 'cartesia',
  voice,
  behindServer: true,
  atRate: 'it is asked for 24 kHz',
  open: async (care) => {
    const server = await openCartesiaServer();
    return behind(openSonic(server, care), server, 'WS /tts/websocket');
  },
});

async function spoken(options: CartesiaOptions = {}) {
  await using server = await openCartesiaServer(options);
  return await say(openSonic(server), voice, { text });
}

describe('cartesia', () => {
  it.each([false, true])('cartesia’s own times go with the audio (times before it: %s)', async (timesFirst) => {
    const heard = heardIn(await spoken({ timesFirst }));
    expect(heard.text).toBe(text);
    expect(heard.words).toEqual(text.split(' ').map((word, index) => [word, index * 60]));
    expect(heard.bases).toEqual(['engine']);
    expect(heard.sounds).toEqual(text.split(' ').flatMap((_, index) => [`m ${index * 60}`, `ɑ ${index * 60 + 20}`]));
    expect(heard.shapes.at(-1)).toMatch(/^sil 4/);
  });

  it('cartesia is asked for a context with times, in the language and tempo', async () => {
    await using server = await openCartesiaServer();
    await say(openSonic(server), { kind: 'preset', id: 'my-clone' }, { text: 'Bonjour.', language: 'fr-CA', speed: 2 });
    expect(server.asked).toEqual([
      {
        model_id: 'sonic-3',
        transcript: 'Bonjour.',
        voice: { mode: 'id', id: 'my-clone' },
        language: 'fr',
        context_id: expect.any(String),
        output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
        add_timestamps: true,
        add_phoneme_timestamps: true,
        continue: false,
        generation_config: { speed: 1.5 },
      },
    ]);
    const [handshake] = server.requests;
    expect(handshake?.headers['x-api-key']).toBe(secretKey);
    expect(handshake?.query.get('cartesia_version')).toBe('2026-03-01');
  });

  it.each([
    [401, 'unauthorized', 'ENGINE_REFUSED', 'apiKeyEnv'],
    [402, 'quota_exceeded', 'ENGINE_REFUSED', 'no credit left (402 quota_exceeded)'],
    [404, 'model_not_found', 'ENGINE_REFUSED', 'model_not_found'],
    [429, 'concurrency_limited', 'ENGINE_UNAVAILABLE', 'concurrency_limited'],
    [500, null, 'ENGINE_UNAVAILABLE', '500'],
  ] as const)('cartesia’s error %i %s is reported as %s', async (status, error, code, word) => {
    const detail = expect.stringContaining(word) as string;
    await expect(spoken({ failsWith: [status, error] })).rejects.toMatchObject({ code, detail });
  });

  it('one cartesia connection serves contexts one after another, and an unknown voice is asked for once', async () => {
    await using server = await openCartesiaServer();
    const engine = openSonic(server);
    for (const _time of [1, 2]) expect(await say(engine, { kind: 'preset', id: 'nobody' })).not.toEqual([]);
    const voices = server.asked.map((request) => (request['voice'] as { readonly id: string }).id);
    expect(voices).toEqual(['nobody', cartesiaVoice, cartesiaVoice]);
    // The connection of a failed context is not used again.
    expect(server.connections).toBe(2);
    await engine.close?.();
  });

  it('cartesia’s calls are logged with their cost', async () => {
    await using server = await openCartesiaServer();
    const costs: CallCost[] = [];
    await say(
      openSonic(server, {}, (cost) => costs.push(cost)),
      voice,
      { text },
    );
    expect(costs).toMatchObject([{ outcome: 'ok', characters: text.length, audioSeconds: 0.48 }]);
  });

  it('doctor checks the key of cartesia, and the default voice', async () => {
    await using server = await openCartesiaServer();
    const { signal } = new AbortController();
    const checked = (given = {}) => openSonic(server, {}, undefined, given).check?.({ signal });
    await expect(checked()).resolves.toContain(cartesiaVoice);
    const detail = expect.stringContaining('defaultVoice') as string;
    await expect(checked({ defaultVoice: 'nobody' })).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail });
    server.breaks({ kind: 'status', status: 401 });
    await expect(checked()).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });
});
