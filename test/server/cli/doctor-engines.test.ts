import { expect, it } from 'vitest';
import { checkPlannedEngines } from '../../../server/cli/doctor/engines.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { enginesFile, openCascadeServers } from '../../rigs/engine-rig.ts';
import { characters } from '../../rigs/serve-rig.ts';

async function findings(file: string): Promise<string[]> {
  const alice = characters.get('alice');
  if (alice === undefined) throw new Error('no Alice');
  const found = await checkPlannedEngines(planEngines({ engines: file }, {}), alice);
  return found.map(({ name, ok, says }) => `${ok ? '✓' : '✗'} ${name} ${says}`);
}

it('the doctor finds engines that work', async () => {
  await using servers = await openCascadeServers();
  expect(await findings(servers.file)).toEqual([
    expect.stringMatching(/^✓ ear openai-transcriptions: 127\.0\.0\.1:\d+ has whisper; transcribes after \d+ ms$/),
    expect.stringMatching(/^✓ llama openai-chat: 127\.0\.0\.1:\d+ has llama; answers after \d+ ms$/),
    expect.stringMatching(/^✓ mouth openai-speech: .* synthesizes after \d+ ms$/),
  ]);
});

it('the doctor has one line, with the remedy, for each engine that is broken in its own way', async () => {
  const servers: EngineServer[] = [];
  const speech = async (): Promise<EngineServer> => {
    const server = await openSpeechServer();
    servers.push(server);
    return server;
  };
  const [locked, dumb, mute, page] = await Promise.all([speech(), speech(), speech(), speech()]);
  locked.breaks({ kind: 'status', status: 401 });
  dumb.breaks({ kind: 'empty' }, { route: 'POST /v1/audio/speech' });
  mute.breaks({ kind: 'hang' });
  page.breaks({ kind: 'page' });
  const loading = await openTranscriptionServer();
  servers.push(loading);
  loading.breaks({ kind: 'status', status: 404 });
  const mouth = { kind: 'openai-speech', retries: 0 };
  const file = await enginesFile({
    engines: {
      loading: { kind: 'openai-transcriptions', dialect: 'whisper-cpp', baseUrl: loading.url },
      down: { ...mouth, baseUrl: 'http://127.0.0.1:1/v1' },
      keyless: { ...mouth, baseUrl: `${locked.url}/v1`, apiKeyEnv: 'NOBODY_HAS_SET_THIS' },
      locked: { ...mouth, baseUrl: `${locked.url}/v1` },
      other: { ...mouth, baseUrl: `${dumb.url}/v1`, model: 'large-voice' },
      dumb: { ...mouth, baseUrl: `${dumb.url}/v1`, model: 'small-voice' },
      mute: { ...mouth, baseUrl: `${mute.url}/v1`, timeouts: { firstByteMs: 50 } },
      page: { ...mouth, baseUrl: `${page.url}/v1` },
      wrong: { ...mouth, baseUrl: 'http://127.0.0.1:1', dialect: 'klingon' },
    },
    asr: 'loading',
    tts: ['down', 'keyless', 'locked', 'other', 'dumb', 'mute', 'page', 'wrong'],
  });
  try {
    const lines = await findings(file);
    expect(lines.filter((line) => line.startsWith('✓'))).toEqual([]);
    expect(lines).toEqual([
      expect.stringMatching(/loading .*still loading its model. Try again/),
      expect.stringMatching(/down .*cannot be reached \(ECONNREFUSED\). Check "baseUrl" of the engine "down"/),
      expect.stringMatching(/keyless .*NOBODY_HAS_SET_THIS is not set/),
      expect.stringMatching(/locked .*the key was not accepted \(401\). Check/),
      expect.stringMatching(/other .*no model "large-voice", but small-voice. Set "model" of the engine "other"/),
      expect.stringMatching(/dumb .*no sound \(0 ms\). Look into its log/),
      expect.stringMatching(/mute .*no answer within 0.05 s/),
      expect.stringMatching(/page .*text\/html instead of sound. Check "baseUrl"/),
      expect.stringMatching(/wrong .*The engine "wrong" \(openai-speech\): dialect: Invalid option/),
    ]);
  } finally {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
});
