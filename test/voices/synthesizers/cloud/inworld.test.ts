import { describe, expect, it } from 'vitest';
import type { CallCost } from '../../../../voices/calls/calls.ts';
import { adapter } from '../../../../voices/synthesizers/cloud/inworld.ts';
import { synthesizerConformance } from '../../../conformance/synthesizer.ts';
import { secretKey } from '../../../conformance/upstream.ts';
import { openInworldServer, type InworldOptions } from '../../../fakes/servers/cloud/inworld-server.ts';
import { openEngine, opened, say } from '../../../rigs/voice-engine-rig.ts';
import { heardIn } from './heard.ts';

const voice = { kind: 'preset', id: 'Dennis' } as const;
const route = 'POST /tts/v1/voice:stream';

synthesizerConformance({
  title: 'inworld',
  voice,
  behindServer: true,
  atRate: 'it is asked for 24 kHz',
  open: async (care) => opened(adapter, {}, { server: await openInworldServer(), route, care }),
});

const text = 'Mind the step, it is quite steep.';

async function spoken(options: InworldOptions = {}, id = 'Dennis') {
  await using server = await openInworldServer(options);
  const chunks = await say(openEngine(adapter, { baseUrl: server.url }), { kind: 'preset', id }, { text });
  return { chunks, requests: server.requests };
}

describe('inworld', () => {
  it('inworld’s own times of words and sounds go with the audio', async () => {
    const heard = heardIn((await spoken()).chunks);
    expect(heard.text).toBe(text);
    expect(heard.words).toEqual(text.split(' ').map((word, index) => [word, index * 60]));
    expect(heard.bases).toEqual(['engine']);
    // A closure lasts 40 ms, up to half of the vowel before it.
    expect(heard.shapes.slice(0, 5)).toEqual(['PP 0', 'aa 20', 'PP 40', 'aa 80', 'PP 100']);
    expect(heard.shapes.at(-1)).toMatch(/^sil 4/);
    expect(heard.sounds).toEqual(text.split(' ').flatMap((_, index) => [`m ${index * 60}`, `ɑ ${index * 60 + 20}`]));
  });

  it('inworld is asked for raw audio, words and sounds, with the key as Basic credentials', async () => {
    const { requests } = await spoken({}, 'my-clone');
    expect(requests[0]?.json()).toEqual({
      text,
      voiceId: 'my-clone',
      modelId: 'inworld-tts-1.5-max',
      audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 24_000, speakingRate: 1 },
      timestampType: 'WORD',
    });
    expect(requests[0]?.headers.authorization).toBe(`Basic ${secretKey}`);
  });

  it('inworld without times is timed by estimates', async () => {
    const { text: said, bases, words } = heardIn((await spoken({ isTimeless: true })).chunks);
    expect([said, bases]).toEqual([text, []]);
    expect(words.length).toBe(7);
  });

  it.each([
    [16, 'ENGINE_REFUSED', 'apiKeyEnv'],
    [8, 'ENGINE_UNAVAILABLE', 'quota'],
    [5, 'ENGINE_REFUSED', 'the voice'],
    [13, 'ENGINE_UNAVAILABLE', 'failed'],
  ])('inworld’s stream that ends with gRPC code %i is reported as %s', async (failsWith, code, word) => {
    const detail = expect.stringContaining(word) as string;
    await expect(spoken({ failsWith })).rejects.toMatchObject({ code, detail });
  });

  it('inworld asks for an unknown voice once, then for the default one at once', async () => {
    await using server = await openInworldServer();
    const engine = openEngine(adapter, { baseUrl: server.url });
    for (const _time of [1, 2]) expect(await say(engine, { kind: 'preset', id: 'nobody' })).not.toEqual([]);
    expect(server.requests.map((request) => request.json()['voiceId'])).toEqual(['nobody', 'Dennis', 'Dennis']);
  });

  it('inworld’s calls are logged with their cost', async () => {
    await using server = await openInworldServer();
    const costs: CallCost[] = [];
    await say(
      openEngine(adapter, { baseUrl: server.url }, {}, (cost) => costs.push(cost)),
      voice,
      { text },
    );
    expect(costs).toMatchObject([{ outcome: 'ok', characters: text.length, audioSeconds: 0.48 }]);
  });

  it('doctor checks the key of inworld, and the default voice', async () => {
    await using server = await openInworldServer();
    const { signal } = new AbortController();
    const checked = (given = {}) => openEngine(adapter, { baseUrl: server.url, ...given }).check?.({ signal });
    await expect(checked()).resolves.toContain('“Dennis”');
    const detail = expect.stringContaining('defaultVoice') as string;
    await expect(checked({ defaultVoice: 'nobody' })).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail });
    server.breaks({ kind: 'status', status: 401 });
    await expect(checked()).rejects.toMatchObject({ code: 'ENGINE_REFUSED' });
  });
});
