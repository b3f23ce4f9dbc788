import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/fish-speech.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { secretKey } from '../../conformance/upstream.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openFishSpeechServer } from '../../fakes/servers/fish-speech-server.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const { voice } = await clipForTests();

synthesizerConformance({
  title: 'fish-speech',
  voice,
  behindServer: true,
  oneAtATime: true,
  open: async (care?: CallPolicy) =>
    opened(adapter, {}, { server: await openFishSpeechServer(), route: 'POST /v1/tts', care }),
  // Its stream has no header: the setting must state any other rate.
  atRate: async (sampleRate) =>
    opened(adapter, { sampleRate }, { server: await openFishSpeechServer({ sampleRate }), route: 'POST /v1/tts' }),
});

const list = '/v1/references/list';

function paths(server: EngineServer): string[] {
  return server.requests.map(({ path }) => path);
}

describe('fish-speech', () => {
  it('fish-speech gets a clip once and then its name', async () => {
    await using server = await openFishSpeechServer();
    const engine = openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 });
    await say(engine, voice);
    await say(engine, voice);
    expect(paths(server)).toEqual([list, '/v1/references/add', '/v1/tts', list, '/v1/tts']);
    const id = (await server.requests[1]?.form())?.get('id');
    expect(server.requests[4]?.json()).toEqual({
      text: 'Mind the step.',
      format: 'wav',
      streaming: true,
      reference_id: id,
      use_memory_cache: 'on',
    });
    expect(server.requests[4]?.headers.authorization).toBe(`Bearer ${secretKey}`);
  });

  it('fish-speech may have the clip from an earlier run', async () => {
    await using server = await openFishSpeechServer();
    await say(openEngine(adapter, { baseUrl: server.url }), voice);
    expect(await say(openEngine(adapter, { baseUrl: server.url }), voice)).not.toEqual([]);
    expect(paths(server)).toEqual([list, '/v1/references/add', '/v1/tts', list, '/v1/tts']);
  });

  it.each([
    ['sherlock', {}, 'sherlock'],
    ['nobody', { defaultVoice: 'martha' }, 'martha'],
    ['nobody', {}, undefined],
  ])('fish-speech asked for voice "%s" with %o speaks as %s', async (id, given, speaks) => {
    await using server = await openFishSpeechServer({ voices: ['sherlock', 'martha'] });
    await say(openEngine(adapter, { baseUrl: server.url, ...given }), { kind: 'preset', id });
    expect(server.requests.at(-1)?.json()['reference_id']).toBe(speaks);
  });

  it('fish-speech that lost its clips, as a replaced container does, speaks with the character’s voice again', async () => {
    await using server = await openFishSpeechServer();
    const engine = openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 });
    await say(engine, voice);
    server.loseClips();
    await say(engine, voice);
    const [id] = server.spokenAs;
    expect(server.spokenAs).toEqual([id, id]);
  });

  it('fish-speech with an empty folder in the place of the clip gets the clip, and does not refuse it for ever', async () => {
    await using server = await openFishSpeechServer();
    await say(openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 }), voice);
    const [id = ''] = server.spokenAs;
    server.loseClips();
    await fetch(`${server.url}/v1/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'So.', format: 'wav', reference_id: id }),
    });
    await say(openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 }), voice);
    expect(server.spokenAs).toEqual([id, 'any', id]);
  });

  it('fish-speech gets no clip without a transcript, which it refuses, and the error says so', async () => {
    await using server = await openFishSpeechServer();
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), { ...voice, transcript: ' ' });
    await expect(speaking).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
      detail: expect.stringContaining('"transcript"'),
    });
    expect(server.requests).toEqual([]);
  });

  it('doctor checks the health route of fish-speech', async () => {
    await using server = await openFishSpeechServer();
    const { signal } = new AbortController();
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).resolves.toMatch(/fish-speech/);
  });
});
