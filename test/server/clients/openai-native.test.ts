import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';
import { afterAll, describe, expect, it } from 'vitest';
import { fakeEngines } from '../../fakes/engines.ts';
import { openTlsTunnel } from '../../fakes/network/tls-tunnel.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { expectOrder, recordClient } from './openai-client.ts';
import { serve } from '../../rigs/serve-rig.ts';

const trusted = getCACertificates('default');
afterAll(() => setDefaultCACertificates(trusted));

/** The client insists on TLS, and the runtime's own WebSocket takes its certificates from the process. */
async function connect(engines: ReturnType<typeof fakeEngines>) {
  const { port } = await serve({ engines });
  const tunnel = await openTlsTunnel(port);
  setDefaultCACertificates([...trusted, tunnel.certificate]);
  const openai = new OpenAI({ apiKey: 'any', baseURL: `https://127.0.0.1:${tunnel.port}/v1` });
  const realtime = new OpenAIRealtimeWebSocket({ model: 'sherlock-holmes' }, openai);
  return recordClient(realtime, tunnel);
}

describe('openai package over the runtime’s WebSocket', () => {
  it('holds a conversation with interruption and function calls with the openai package over the native WebSocket', async () => {
    const calls = [{ name: 'get_weather', arguments: '{"place":"London"}' }];
    const long = 'One two three four five six seven eight nine ten eleven twelve.';
    const engines = fakeEngines({ says: [long, { text: 'Let me look.', calls }, 'It rains in London.'] });
    await using client = await connect(engines);
    await client.until('session.created');
    client.append(tone(700));
    client.append(silence(900));
    await client.until('response.output_audio.delta', 3);
    expect(client.of('conversation.item.input_audio_transcription.completed')[0]?.transcript).toBe('hello there');
    client.append(tone(700));
    await client.until('response.done');
    expect(client.of('response.done')[0]?.response).toMatchObject({ status: 'cancelled' });

    client.realtime.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        tools: [
          {
            type: 'function',
            name: 'get_weather',
            parameters: { type: 'object', properties: { place: { type: 'string' } } },
          },
        ],
      },
    });
    client.append(silence(900));
    await client.until('response.function_call_arguments.done');
    const [call] = client.of('response.function_call_arguments.done');
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"place":"London"}' });
    await client.until('response.done', 2);
    const output = { type: 'function_call_output' as const, call_id: String(call.call_id), output: 'It rains.' };
    client.realtime.send({ type: 'conversation.item.create', item: output });
    client.realtime.send({ type: 'response.create' });
    await client.until('response.done', 3);
    expect(
      engines.agent.histories.at(-1)?.some((message) => message.role === 'tool' && message.text === 'It rains.'),
    ).toBe(true);
    expect(client.faults).toEqual([]);
    expectOrder(client.events);
  });
});
