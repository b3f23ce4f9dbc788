import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import type { Voice } from '../../../voices/synthesizer.ts';
import { adapter } from '../../../voices/synthesizers/xtts.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { openCoquiServer, openDaswer123Server } from '../../fakes/servers/xtts-server.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const { voice } = await clipForTests();
const female: Voice = { kind: 'preset', id: 'female' };

synthesizerConformance({
  title: 'xtts (coqui)',
  voice,
  behindServer: true,
  atRate: 'XTTS speaks at 24 kHz',
  oneAtATime: true,
  open: async (care?: CallPolicy) =>
    opened(adapter, {}, { server: await openCoquiServer(), route: 'POST /tts_stream', care }),
});
synthesizerConformance({
  title: 'xtts (daswer123)',
  voice: female,
  behindServer: true,
  atRate: 'XTTS speaks at 24 kHz',
  open: async (care?: CallPolicy) => {
    const server = await openDaswer123Server();
    return opened(adapter, { server: 'daswer123' }, { server, route: 'GET /tts_stream', care });
  },
});

describe('XTTS behind coqui’s server', () => {
  it('XTTS computes a clip’s latents once and sends them with every request', async () => {
    await using server = await openCoquiServer();
    const engine = openEngine(adapter, { baseUrl: server.url }, { graceMs: 0 });
    await say(engine, voice, { language: 'zh' });
    await say(engine, voice);
    expect(server.requests.map(({ path }) => path)).toEqual(['/clone_speaker', '/tts_stream', '/tts_stream']);
    const [, chinese, english] = server.requests.map((request, index) => (index === 0 ? {} : request.json()));
    expect(chinese).toMatchObject({ text: 'Mind the step.', language: 'zh-cn', stream_chunk_size: '20' });
    expect(english).toMatchObject({ language: 'en' });
    expect(chinese?.['gpt_cond_latent']).toHaveLength(32);
  });

  it('XTTS speaks with the named voice, or the default', async () => {
    await using server = await openCoquiServer({ voices: ['Claribel', 'Daisy', 'Gracie'] });
    const engine = openEngine(adapter, { baseUrl: server.url, defaultVoice: 'Gracie' }, { graceMs: 0 });
    await say(engine, { kind: 'preset', id: 'Daisy' });
    await say(engine, { kind: 'preset', id: 'martha' });
    const spoken = server.requests.filter(({ path }) => path === '/tts_stream').map((request) => request.json());
    expect(spoken.map((json) => (json['speaker_embedding'] as number[])[0])).toEqual([1, 2]);
  });

  it('XTTS without voices of its own says what to do', async () => {
    await using server = await openCoquiServer({ voices: [] });
    const speaking = say(openEngine(adapter, { baseUrl: server.url }), female);
    await expect(speaking).rejects.toMatchObject({ detail: expect.stringContaining('"references"') });
  });

  it('XTTS speaks the clip’s language if it does not know the requested one', async () => {
    await using server = await openCoquiServer();
    await say(openEngine(adapter, { baseUrl: server.url }), { ...voice, language: 'fr' }, { language: 'cy' });
    expect(server.requests.at(-1)?.json()).toMatchObject({ language: 'fr' });
  });

  it('doctor recognizes XTTS by its languages', async () => {
    await using server = await openCoquiServer();
    const { signal } = new AbortController();
    await expect(openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).resolves.toMatch(/coqui.*XTTS/);
  });
});

describe('XTTS behind daswer123’s server', () => {
  it('daswer123’s XTTS server gets the path of the clip on its own disk', async () => {
    await using server = await openDaswer123Server();
    const engine = openEngine(adapter, { baseUrl: server.url, server: 'daswer123', serverDirectory: '/speakers' });
    expect(await say(engine, voice)).not.toEqual([]);
    const query = Object.fromEntries(server.requests[0]?.query ?? []);
    expect(query).toEqual({ text: 'Mind the step.', speaker_wav: '/speakers/martha.wav', language: 'en' });
  });
});
