import { RealtimeAgent, RealtimeSession, tool, type RealtimeItem } from '@openai/agents-realtime';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Engines } from '../../../server/engines/engines.ts';
import { concatSamples, floatsFromPcm16, pcm16FromFloats } from '../../../voices/audio.ts';
import { unfinishedResponses, type RecordedEvent } from '../../conformance/realtime-order.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { atThePaceOfSpeech } from '../../fakes/spoken.ts';
import { openTlsTunnel } from '../../fakes/network/tls-tunnel.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { expectOrder, recordClient } from './openai-client.ts';
import { serve } from '../../rigs/serve-rig.ts';

const key = 'a-key';

/** The server of the rig, with a key. */
const open = (engines: Engines) => serve({ engines, flags: { apiKeys: key } });

/** Length and average level of a reply. */
function hearing(pcm16: readonly Uint8Array[]): { readonly seconds: number; readonly level: number } {
  const samples = concatSamples(pcm16.map((bytes) => floatsFromPcm16(Buffer.from(bytes))));
  const level = samples.reduce((sum, sample) => sum + Math.abs(sample), 0) / Math.max(1, samples.length);
  return { seconds: samples.length / 24_000, level };
}

function soundOf(events: readonly RecordedEvent[]): Uint8Array[] {
  const deltas = events.filter((event) => event.type === 'response.output_audio.delta');
  return deltas.map((event) => Buffer.from(String(event['delta']), 'base64'));
}

const long = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.';
const script = {
  hears: ['hello there', 'stop that', 'go on'],
  says: ['One two three.', long, 'Very well.', 'Indeed.'],
};
/** The conversation when the user interrupts the second reply. */
const begun = ['hello there', 'One two three.', 'stop that'];

describe('openai package', () => {
  /** Connects through TLS, as it insists on; records everything. */
  async function connect(port: number, model: string) {
    const tunnel = await openTlsTunnel(port);
    const openai = new OpenAI({ apiKey: key, baseURL: `https://127.0.0.1:${tunnel.port}/v1` });
    const realtime = new OpenAIRealtimeWS({ model, options: { ca: tunnel.certificate } }, openai);
    return recordClient(realtime, tunnel);
  }

  it('holds a spoken and typed conversation with interruption with the openai package', async () => {
    const engines = fakeEngines(script);
    const server = await open(engines);
    await using client = await connect(server.port, 'gpt-realtime-2.1');
    const { realtime } = client;
    await client.until('session.created');
    realtime.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'It rains.',
        output_modalities: ['audio'],
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            noise_reduction: { type: 'near_field' },
            transcription: { model: 'gpt-4o-mini-transcribe' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 400 },
          },
          output: { voice: 'marin' },
        },
      },
    });
    const { session } = await client.until('session.updated');
    expect(session).toMatchObject({
      instructions: 'It rains.',
      audio: { input: { turn_detection: { silence_duration_ms: 400 } } },
    });

    client.append(concatSamples([silence(200), tone(600), silence(600)]));
    const { transcript } = await client.until('conversation.item.input_audio_transcription.completed');
    expect(transcript).toBe('hello there');
    const { response } = await client.until('response.done');
    expect(response).toMatchObject({ status: 'completed', output: [{ content: [{ transcript: 'One two three.' }] }] });
    expect(hearing(soundOf(client.events))).toEqual({ seconds: 0.3, level: expect.closeTo(0.2, 2) });

    const before = soundOf(client.events).length;
    client.append(concatSamples([tone(600), silence(600)]));
    // The 24th delta of this reply is due 800 ms after its first: earlier than 600 ms, it would count as never begun.
    await client.until('response.output_audio.delta', before + 24);
    client.append(tone(600));
    const { response: cut } = await client.until('response.done', 2);
    expect(cut).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
    const [{ id }] = cut.output;
    realtime.send({ type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: 250 });
    expect(await client.until('conversation.item.truncated')).toMatchObject({ item_id: id, audio_end_ms: 250 });
    realtime.send({ type: 'conversation.item.retrieve', item_id: id });
    const { item } = await client.until('conversation.item.retrieved');
    expect(item).toMatchObject({ status: 'incomplete', content: [{ transcript: 'One two three' }] });
    client.append(silence(600));
    expect((await client.until('response.done', 3)).response.status).toBe('completed');
    expect(engines.agent.histories[2]?.map(({ text }) => text)).toEqual([...begun, 'One two three', 'go on']);

    const content = [{ type: 'input_text' as const, text: 'And now in writing?' }];
    realtime.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    realtime.send({ type: 'response.create' });
    expect((await client.until('response.done', 4)).response.output[0].content[0].transcript).toBe('Indeed.');
    expect(client.faults).toEqual([]);
    expectOrder(client.events);
  });

  it('informs the openai package that its API key is wrong', async () => {
    const server = await open(fakeEngines());
    await using tunnel = await openTlsTunnel(server.port);
    const openai = new OpenAI({ apiKey: 'another', baseURL: `https://127.0.0.1:${tunnel.port}/v1` });
    const realtime = new OpenAIRealtimeWS({ model: 'alice', options: { ca: tunnel.certificate } }, openai);
    const fault = await new Promise<Error>((resolve) => realtime.on('error', resolve));
    expect(fault.message).toContain('401');
  });
});

describe('@openai/agents-realtime', () => {
  /** A session of an agent; records events, faults and the SDK's history. */
  async function connect(port: number, model: string, tools: ReturnType<typeof tool>[] = []) {
    const agent = new RealtimeAgent({ name: 'Guest', instructions: 'It rains.', voice: 'marin', tools });
    const session = new RealtimeSession(agent, { transport: 'websocket', model, historyStoreAudio: true });
    const events: RecordedEvent[] = [];
    const faults: unknown[] = [];
    const sound: Uint8Array[] = [];
    const told: string[] = [];
    let history: RealtimeItem[] = [];
    session.on('transport_event', (event) => events.push(event as RecordedEvent));
    session.on('error', ({ error }) => faults.push(error));
    session.on('audio', ({ data }) => sound.push(new Uint8Array(data)));
    session.on('audio_interrupted', () => told.push('interrupted'));
    session.on('agent_end', (_context, _agent, output) => told.push(output));
    session.on('history_updated', (updated) => (history = updated));
    await session.connect({ apiKey: key, url: `ws://127.0.0.1:${port}/v1/realtime?model=${model}` });
    return {
      session,
      events,
      faults,
      sound,
      told,
      /** Roles and words of the SDK's history. */
      history: () =>
        history.flatMap((item) => {
          if (item.type !== 'message') return [];
          const words = item.content.map((part) => ('text' in part ? part.text : part.transcript));
          return [`${item.role}: ${words.join('')}`];
        }),
      append: (samples: Float32Array) => session.sendAudio(new Uint8Array(pcm16FromFloats(samples)).buffer),
      until: (condition: () => boolean) => vi.waitUntil(condition, { timeout: 30_000, interval: 5 }),
      [Symbol.dispose]: () => session.close(),
    };
  }

  it('holds a spoken and typed conversation with interruption with the agents SDK', async () => {
    const engines = fakeEngines(script);
    const server = await open(engines);
    using client = await connect(server.port, 'gpt-realtime-2.1');
    client.append(concatSamples([silence(200), tone(600), silence(1_000)]));
    await client.until(() => client.told.length > 0);
    expect(client.told).toEqual(['One two three.']);
    expect(hearing(client.sound)).toEqual({ seconds: 0.3, level: expect.closeTo(0.2, 2) });
    await client.until(() => client.history().join() === 'user: hello there,assistant: One two three.');

    // The SDK counts speech as an interruption until the reply's playback would have ended.
    await atThePaceOfSpeech(silence(500), client.append);
    client.sound.length = 0;
    client.append(concatSamples([tone(600), silence(1_000)]));
    await client.until(() => client.sound.length >= 22);
    client.append(tone(600));
    await client.until(() => client.told.includes('interrupted'));
    await client.until(() => client.events.some((event) => event.type === 'conversation.item.truncated'));
    client.append(silence(1_000));
    await client.until(() => client.told.includes('Very well.'));
    const heard = client.history()[3]?.replace('assistant: ', '') ?? '';
    expect(long.startsWith(heard)).toBe(true);
    expect(heard.length).toBeLessThan(long.length);
    expect(client.history()).toEqual([
      'user: hello there',
      'assistant: One two three.',
      'user: stop that',
      `assistant: ${heard}`,
      'user: go on',
      'assistant: Very well.',
    ]);
    expect(engines.agent.histories[2]?.map(({ text }) => text)).toEqual([...begun, heard, 'go on']);

    client.session.sendMessage('And now in writing?');
    await client.until(() => client.told.includes('Indeed.'));
    expect(client.history().slice(-2)).toEqual(['user: And now in writing?', 'assistant: Indeed.']);
    expect(client.session.usage.totalTokens).toBeGreaterThan(0);
    expect(client.faults).toEqual([]);
    expectOrder(client.events);
  });

  it('stops the reply when the agents SDK interrupts', async () => {
    const server = await open(fakeEngines({ says: [long] }));
    using client = await connect(server.port, 'sherlock-holmes');
    client.session.sendMessage('Tell me everything.');
    await client.until(() => client.sound.length >= 5);
    client.session.interrupt();
    await client.until(() => client.events.some((event) => event.type === 'response.done'));
    expect(client.events.findLast((event) => event.type === 'response.done')).toMatchObject({
      response: { status: 'cancelled', status_details: { reason: 'client_cancelled' } },
    });
    await client.until(() => client.events.some((event) => event.type === 'conversation.item.truncated'));
    expect(client.faults).toEqual([]);
    expectOrder(client.events);
  });

  it('runs functions with the agents SDK and continues with their outputs', async () => {
    const places: string[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather of a place.',
      parameters: z.object({ place: z.string() }),
      execute: async ({ place }) => {
        places.push(place);
        return `It rains in ${place}.`;
      },
    });
    const calls = ['London', 'Paris'].map((place) => ({ name: 'get_weather', arguments: JSON.stringify({ place }) }));
    // The SDK asks for a response after each output, so the character may speak more than once.
    const told = Array<string>(20).fill('It rains in both.');
    const engines = fakeEngines({ says: [{ text: 'Let me look.', calls }, ...told] });
    const server = await open(engines);
    using client = await connect(server.port, 'sherlock-holmes', [weather]);
    client.session.sendMessage('Will it rain?');
    const outputs = (): string[] =>
      engines.agent.histories.at(-1)?.flatMap((message) => (message.role === 'tool' ? [message.text] : [])) ?? [];
    await client.until(() => outputs().join(' ') === 'It rains in London. It rains in Paris.');
    await client.until(() => unfinishedResponses(client.events).length === 0);
    expect(places).toEqual(['London', 'Paris']);
    expect(client.faults).toEqual([]);
    expectOrder(client.events);
  });
});
