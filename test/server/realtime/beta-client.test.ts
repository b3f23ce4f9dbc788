import { RealtimeClient } from 'openai-realtime-api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { int16FromFloats } from '../../../voices/audio.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { tone } from '../../fakes/vad.ts';
import { betaTypes } from '../../rigs/connection-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

type Json = Record<string, any>;

const key = 'hush-hush';
const keyed = { flags: { apiKeys: key } };
const beta = (token = key) => ({ authorization: `Bearer ${token}`, 'openai-beta': 'realtime=v1' });
const sessions = '/v1/realtime/sessions';
/** Six seconds of speech. */
const longLine = `One${' two three four'.repeat(20)}.`;

const clients: RealtimeClient[] = [];
afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));

describe('beta client over a socket', () => {
  it('negotiates only the subprotocol that the beta client knows', async () => {
    const { call } = await serve(keyed);
    const wire = call('?model=sherlock-holmes', beta(), ['realtime', 'openai-beta.realtime-v1']);
    await wire.until('conversation.created');
    expect(wire.socket.protocol).toBe('realtime');
  });

  it('speaks GA to a client that does not ask for the beta', async () => {
    const { call } = await serve(keyed);
    const { session } = await call('', {}, ['realtime', `openai-insecure-api-key.${key}`]).until('session.created');
    expect(session).toMatchObject({ output_modalities: ['audio'] });
  });

  it('creates a beta session over HTTP and opens it with its client secret', async () => {
    const { ask, call } = await serve(keyed);
    const wanted = {
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
    };
    const { status, body } = await ask(sessions, { key, body: wanted });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'realtime.session',
      modalities: ['audio', 'text'],
      output_audio_format: 'g711_ulaw',
      turn_detection: null,
      instructions: 'It rains.',
      client_secret: { value: expect.stringMatching(/^ek_/), expires_at: expect.any(Number) },
    });
    expect(body.client_secret.expires_at * 1000 - Date.now()).toBeLessThanOrEqual(60_000);
    const wire = call('?model=gpt-4o-realtime-preview', beta(body.client_secret.value));
    const { session } = await wire.until('session.created');
    expect(session).toMatchObject({ voice: 'alice', output_audio_format: 'g711_ulaw', instructions: 'It rains.' });
  });

  it('explains why a beta session cannot be created', async () => {
    const { ask } = await serve(keyed);
    const refused = async (body: unknown, by = key): Promise<unknown[]> => {
      const answer = await ask(sessions, { key: by, body });
      return [answer.status, answer.body.error.code];
    };
    expect(await refused({}, 'wrong')).toEqual([401, 'invalid_api_key']);
    expect(await refused({ model: 'nobody' })).toEqual([404, 'unknown_character']);
    expect(await refused({ output_audio_format: 'mp3' })).toEqual([400, 'unsupported_audio_format']);
    expect(await refused([])).toEqual([400, 'invalid_event']);
  });
});

describe('openai-realtime-api', () => {
  it('holds a typed and a spoken turn with interruption with the stock beta client', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { at } = await serve({ ...keyed, engines: fakeEngines({ says: [longLine, 'Yes?'] }) });
    const client = new RealtimeClient({ url: `ws://${at}/v1/realtime`, model: 'sherlock-holmes', apiKey: key });
    clients.push(client);
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
