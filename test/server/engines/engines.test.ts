import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../server/config/config.ts';
import { openEngines, type Engines } from '../../../server/engines/engines.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import type { CallCost } from '../../../voices/calls/calls.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { enginesFile, openCascadeServers, serveOn } from '../../rigs/engine-rig.ts';
import type { record, serve } from '../../rigs/serve-rig.ts';

type Client = ReturnType<typeof record>;
const opened: Engines[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engines) => engines.close()));
});

async function open(file: string, log?: (cost: CallCost) => void): Promise<Engines> {
  const engines = await openEngines({ engines: file }, log);
  opened.push(engines);
  return engines;
}

async function call(server: Awaited<ReturnType<typeof serve>>): Promise<Client> {
  const client = server.call('?model=alice');
  await client.until('session.created');
  client.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection: null } } } });
  await client.until('session.updated');
  return client;
}

function say(client: Client, ...blocks: readonly Float32Array[]): void {
  for (const block of blocks) {
    client.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(block).toString('base64') });
  }
  client.send({ type: 'input_audio_buffer.commit' });
  client.send({ type: 'response.create' });
}

describe('engines behind servers', () => {
  it('recognizes, answers and speaks with engines behind servers and reports each call’s cost without content', async () => {
    await using servers = await openCascadeServers();
    const costs: CallCost[] = [];
    const server = await serveOn(await open(servers.file, (cost) => costs.push(cost)));
    const client = await call(server);
    say(client, tone(900), silence(600));
    const heard = await client.until('conversation.item.input_audio_transcription.completed');
    expect(heard['transcript']).toBe('hello there');
    const { response } = await client.until('response.done');
    expect(response.status).toBe('completed');
    expect(response.output[0].content[0].transcript.trim()).toBe('Good evening, traveller. Mind the step.');
    expect(servers.mind.requests.at(-1)?.json()['messages']).toContainEqual({
      role: 'user',
      content: expect.stringMatching(/hello there$/),
    });
    const spoken = servers.mouth.requests.map((request) => request.json());
    expect(spoken.map(({ input }) => input).join(' ')).toBe('Good evening, traveller. Mind the step.');
    expect(spoken[0]).toMatchObject({ voice: 'af_heart' });
    expect(costs.map(({ engine }) => engine)).toEqual(expect.arrayContaining(['ear', 'llama', 'mouth']));
    expect(costs.find(({ engine }) => engine === 'mouth')).toMatchObject({
      outcome: 'ok',
      audioSeconds: expect.any(Number),
    });
    expect(JSON.stringify(costs)).not.toMatch(/hello|evening|step/);
    client.socket.terminate();
  });

  it('shows the health of each engine at /healthz', async () => {
    await using servers = await openCascadeServers();
    const engines = await open(servers.file);
    const server = await serveOn(engines);
    servers.mouth.breaks({ kind: 'status', status: 500 });
    const client = await call(server);
    say(client, tone(900), silence(600));
    await client.until('response.done');
    const { body } = await server.ask('/healthz');
    const stage = (name: string): any => body.engines.find((entry: any) => entry.stage === name);
    expect(stage('recognizer')).toMatchObject({ name: 'ear', health: { ear: { state: 'ok', failures: 0 } } });
    expect(stage('mind').name).toBe('llama, then retrieval');
    expect(stage('synthesizer').health.mouth).toMatchObject({ state: 'failing', lastFailure: 'ENGINE_UNAVAILABLE' });
    client.socket.terminate();
  });

  it('falls back to the embedded voice if the chain names it', async () => {
    await using servers = await openCascadeServers();
    const { mouth, mind } = servers;
    const file = await enginesFile({
      engines: {
        llama: { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' },
        mouth: { kind: 'openai-speech', baseUrl: `${mouth.url}/v1`, retries: 0 },
      },
      llm: 'llama',
      tts: ['mouth', 'embedded'],
    });
    mouth.breaks({ kind: 'status', status: 401 });
    const server = await serveOn(await open(file));
    const client = await call(server);
    const content = [{ type: 'input_text', text: 'Good evening' }];
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    client.send({ type: 'response.create' });
    const { response } = await client.until('response.done');
    expect(response.status).toBe('completed');
    expect(response.output[0].content[0].transcript.trim()).toBe('Good evening, traveller. Mind the step.');
    client.socket.terminate();
  }, 60_000);
});

describe('engines that cannot be opened', () => {
  it.each([
    ['a missing address', { kind: 'openai-speech' }, 'The engine "mouth" (openai-speech): baseUrl'],
    [
      'an unknown setting',
      { kind: 'openai-speech', baseUrl: 'http://127.0.0.1:1', vocie: 'x' },
      'unknown setting "vocie"',
    ],
    ['a key in the file', { kind: 'openai-speech', baseUrl: 'http://127.0.0.1:1', apiKey: 'sk-x' }, 'apiKeyEnv'],
    ['a password in the address', { kind: 'openai-speech', baseUrl: 'http://me:sk-x@127.0.0.1:1' }, 'apiKeyEnv'],
    ['an unknown dialect', { kind: 'openai-speech', baseUrl: 'http://127.0.0.1:1', dialect: 'klingon' }, 'dialect'],
  ])('refuses to open an engine because of %s', async (_name, mouth, message) => {
    const file = await enginesFile({ engines: { mouth }, tts: 'mouth' });
    const opening = openEngines({ engines: file });
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.not.toThrow('sk-x');
  });
});
