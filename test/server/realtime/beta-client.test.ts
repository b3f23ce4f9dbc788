import { on, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { RealtimeClient } from 'openai-realtime-api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { loadCharacters } from '../../../characters/character.ts';
import { readConfig } from '../../../server/config/config.ts';
import { buildApp } from '../../../server/app/app.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { int16FromFloats, pcm16FromFloats } from '../../../voices/audio.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { betaTypes } from '../../rigs/beta-rig.ts';

type Json = Record<string, any>;

const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const key = 'hush-hush';
/** Six seconds of speech. */
const longLine = `One${' two three four'.repeat(20)}.`;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** The server on fake engines, with a key, on a free port. */
async function serve(says: readonly string[] = ['One two three.']): Promise<string> {
  const environment = { DRAMATIS_LOG_LEVEL: 'silent', DRAMATIS_API_KEYS: key };
  const config = readConfig({ flags: {}, environment });
  const app = await buildApp({ config, engines: fakeEngines({ says }), characters, version: '1.2.3' });
  open.push(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** A client that knows no more than WebSockets and the beta, as in a game. */
async function connect(at: string, token = key, query = '?model=sherlock-holmes') {
  const headers = { authorization: `Bearer ${token}`, 'openai-beta': 'realtime=v1' };
  const socket = new WebSocket(`ws://${at}/v1/realtime${query}`, ['realtime', 'openai-beta.realtime-v1'], { headers });
  open.push(socket);
  const messages = on(socket, 'message') as AsyncIterator<[Buffer]>;
  const types: string[] = [];
  await once(socket, 'open');
  return {
    socket,
    types,
    send: (event: Json) => socket.send(JSON.stringify(event)),
    speak(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 960) {
        const audio = pcm16FromFloats(samples.slice(offset, offset + 960)).toString('base64');
        socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
      }
    },
    /** The next event of a type; those before it are only noted. */
    async next(type: string): Promise<Json> {
      for (;;) {
        const { value } = (await messages.next()) as { value: [Buffer] };
        const event = JSON.parse(value[0].toString()) as Json;
        types.push(event['type'] as string);
        if (event['type'] === type) return event;
      }
    },
  };
}

async function post(at: string, body: unknown, token = key): Promise<{ status: number; body: Json }> {
  const response = await fetch(`http://${at}/v1/realtime/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

describe('beta client over a socket', () => {
  it('holds a spoken turn with barge-in and sends only event types that the beta knows', async () => {
    const client = await connect(await serve([longLine, 'Yes?']));
    expect(client.socket.protocol).toBe('realtime');
    await client.next('conversation.created');
    client.send({ type: 'session.update', session: { voice: 'alloy', turn_detection: { type: 'server_vad' } } });
    expect((await client.next('session.updated'))['session'].voice).toBe('sherlock-holmes');
    client.speak(silence(200));
    client.speak(tone(600));
    client.speak(silence(1_000));
    const heard = await client.next('conversation.item.input_audio_transcription.completed');
    expect(heard['transcript']).toBe('hello there');
    const sound = await client.next('response.audio.delta');
    client.speak(tone(600));
    const cut = await client.next('response.done');
    expect(cut['response']).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
    client.send({
      type: 'conversation.item.truncate',
      item_id: sound['item_id'],
      content_index: 0,
      audio_end_ms: 100,
    });
    expect((await client.next('conversation.item.truncated'))['audio_end_ms']).toBeLessThanOrEqual(100);
    client.speak(silence(1_000));
    const answered = await client.next('response.done');
    expect(answered['response'].output[0].content).toMatchObject([{ type: 'audio', transcript: 'Yes?' }]);
    expect(client.types.filter((type) => !betaTypes.has(type))).toEqual([]);
  });

  it('speaks GA to a client that does not ask for the beta', async () => {
    const at = await serve();
    const socket = new WebSocket(`ws://${at}/v1/realtime`, ['realtime', `openai-insecure-api-key.${key}`]);
    open.push(socket);
    const [frame] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(frame.toString())).toMatchObject({ session: { output_modalities: ['audio'] } });
  });

  it('creates a beta session over HTTP and opens it with its client secret', async () => {
    const at = await serve();
    const { status, body } = await post(at, {
      client_secret: { expires_after: { anchor: 'created_at', seconds: 60 } },
      model: 'alice',
      modalities: ['text', 'audio'],
      voice: 'alloy',
      instructions: 'It rains.',
      input_audio_format: 'pcm16',
      output_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'whisper-1' },
      turn_detection: null,
      tools: null,
      tool_choice: null,
      temperature: 0.8,
      max_response_output_tokens: 'inf',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'realtime.session',
      modalities: ['audio', 'text'],
      output_audio_format: 'g711_ulaw',
      turn_detection: null,
      instructions: 'It rains.',
      client_secret: { value: expect.stringMatching(/^ek_/), expires_at: expect.any(Number) },
    });
    expect(body['client_secret'].expires_at * 1000 - Date.now()).toBeLessThanOrEqual(60_000);
    const client = await connect(at, body['client_secret'].value as string, '?model=gpt-4o-realtime-preview');
    const { session } = await client.next('session.created');
    expect(session).toMatchObject({ voice: 'alice', output_audio_format: 'g711_ulaw', instructions: 'It rains.' });
  });

  it('explains why a beta session cannot be created', async () => {
    const at = await serve();
    expect(await post(at, {}, 'wrong')).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
    expect(await post(at, { model: 'nobody' })).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_character' } },
    });
    expect(await post(at, { output_audio_format: 'mp3' })).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_audio_format' } },
    });
    expect(await post(at, [])).toMatchObject({ status: 400, body: { error: { code: 'invalid_event' } } });
  });
});

describe('openai-realtime-api', () => {
  it('holds a typed and a spoken turn with interruption with the stock beta client', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const at = await serve([longLine, 'Yes?']);
    const client = new RealtimeClient({ url: `ws://${at}/v1/realtime`, model: 'sherlock-holmes', apiKey: key });
    open.push({ close: () => client.disconnect() });
    const seen: Json[] = [];
    client.on('realtime.event', ({ event, source }) => void (source === 'server' && seen.push(event)));
    await client.connect();
    client.sendUserMessageContent([{ type: 'input_text', text: 'Count.' }]);
    const delta = (await client.realtime.waitForNext('server.response.audio.delta')) as unknown as Json;
    client.cancelResponse(delta['item_id'] as string, 2_400);
    await client.realtime.waitForNext('server.conversation.item.truncated');
    const item = client.conversation.getItem(delta['item_id'] as string);
    expect(item?.formatted.audio?.length).toBeLessThanOrEqual(2_400);

    client.appendInputAudio(int16FromFloats(tone(600)));
    client.createResponse();
    const done = client.realtime.waitForNext('server.response.done');
    await client.realtime.waitForNext('server.conversation.item.input_audio_transcription.completed');
    await done;
    const [, , asked, answer] = client.conversation.getItems();
    expect(asked?.formatted.transcript).toBe('hello there');
    expect(answer?.formatted.transcript).toBe('Yes?');
    expect(answer?.formatted.audio).toHaveLength(2_400);
    expect(seen.map(({ type }) => type as string).filter((type) => !betaTypes.has(type))).toEqual([]);
    expect(seen.filter(({ type }) => type === 'error')).toEqual([]);
    expect(complaints).not.toHaveBeenCalled();
    complaints.mockRestore();
  });
});
