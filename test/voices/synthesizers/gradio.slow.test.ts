import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/gradio.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { f5Inputs, maskgctInputs, openGradioServer, uploadedTo } from '../../fakes/servers/gradio-server.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const { voice, defaultClip } = await clipForTests();
const clip = expect.objectContaining({ path: uploadedTo, meta: { _type: 'gradio.FileData' } });

for (const [stage, route, prefixed] of [
  ['queue', 'POST /gradio_api/call/basic_tts', true],
  ['events', 'GET /gradio_api/call/basic_tts/e0', true],
  ['file', 'GET /gradio_api/file=/tmp/gradio/2c3d/audio.wav', true],
  ['events of Gradio 4', 'GET /call/basic_tts/e0', false],
] as const) {
  synthesizerConformance({
    title: `gradio (${stage})`,
    voice,
    behindServer: true,
    open: async (care?: CallPolicy) =>
      opened(adapter, { defaultClip }, { server: await openGradioServer({ prefixed }), route, care }),
    atRate: async (sampleRate) =>
      opened(adapter, { defaultClip }, { server: await openGradioServer({ prefixed, sampleRate }), route }),
  });
}

function dataOf(server: EngineServer): unknown {
  return server.requests.findLast(({ method, path }) => method === 'POST' && path.includes('/call/'))?.json()['data'];
}

describe('Gradio app', () => {
  it('a Gradio app is called as its page calls it, and gets the clip once', async () => {
    await using server = await openGradioServer();
    const engine = openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 });
    await say(engine, voice);
    await say(engine, voice, { speed: 1.2 });
    expect(dataOf(server)).toEqual([clip, 'I keep the house.', 'Mind the step.', false, true, 0, 0.15, 32, 1.2]);
    const paths = server.requests.map(({ path }) => path.replace('/gradio_api', ''));
    const perPhrase = ['/call/basic_tts', '/call/basic_tts/e0', '/file=/tmp/gradio/2c3d/audio.wav'];
    expect(paths).toEqual(['/info', '/upload', ...perPhrase, ...perPhrase]);
  });

  it.each(['inference', 'predict'])(
    'a Gradio app of MaskGCT is recognized with its endpoint called %s',
    async (name) => {
      await using server = await openGradioServer({ endpoints: { [name]: maskgctInputs } });
      expect(await say(openEngine(adapter, { baseUrl: server.url }), voice)).not.toEqual([]);
      expect(dataOf(server)).toEqual([clip, 'Mind the step.', -1, 25]);
    },
  );

  it('a Gradio app gets the inputs of the settings, by name or label', async () => {
    await using server = await openGradioServer();
    const inputs = { gen_text_input: '[S1]{text} ({language})', 'NFE Steps': 16, 'Reference Text': '{transcript}' };
    await say(openEngine(adapter, { baseUrl: server.url, endpoint: '/basic_tts', inputs }), voice);
    expect(dataOf(server)).toEqual([clip, 'I keep the house.', '[S1]Mind the step. (en)', false, true, 0, 0.15, 16, 1]);
  });

  it('a Gradio app with an unknown endpoint is reported with the endpoints it has', async () => {
    await using server = await openGradioServer({ endpoints: { first: f5Inputs, second: f5Inputs } });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), voice);
    const detail = expect.stringMatching(/first, second\. Set "endpoint"/);
    await expect(speaking).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail });
  });

  it.each([
    ['reports an error without a word', 'event: error\ndata: null\n\n', 'ENGINE_UNAVAILABLE'],
    ['warns, and has no result', 'event: complete\ndata: [null, null, "", 0]\n\n', 'ENGINE_BAD_REPLY'],
    ['changes its page instead', 'event: complete\ndata: [{"__type__":"update"}]\n\n', 'ENGINE_BAD_REPLY'],
    ['says something else', 'event: complete\ndata: {"detail"\n\n', 'ENGINE_BAD_REPLY'],
  ])('a Gradio app that %s has failed', async (_name, instead, code) => {
    await using server = await openGradioServer({ instead });
    await expect(say(openEngine(adapter, { baseUrl: server.url }), voice)).rejects.toMatchObject({ code });
  });

  it('a restarted Gradio app gets the clip again', async () => {
    await using server = await openGradioServer({ instead: 'event: error\ndata: null\n\n' });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }, { retries: 1 }), voice);
    await expect(speaking).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(server.requests.filter(({ path }) => path === '/gradio_api/upload')).toHaveLength(2);
  });

  it('doctor recognizes a Gradio app by its endpoint', async () => {
    await using server = await openGradioServer();
    const { signal } = new AbortController();
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).resolves.toMatch(
      / synthesizes with \/basic_tts$/,
    );
  });
});
