import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeEngines } from '../../fakes/engines.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';

const home = path.resolve(import.meta.dirname, '../../stock-livekit');
const available = existsSync(path.join(home, 'node_modules'));
if (!available)
  console.warn('LiveKit’s client is not here; `npm ci --prefix test/stock-livekit` brings it for its test.');

/** The used parts of LiveKit's packages, which are installed in their own tree. */
interface LiveKit {
  readonly agents: {
    initializeLogger(options: { pretty: boolean; level: string }): void;
    llm: { tool(options: unknown): unknown; toToolContext?(tools: readonly unknown[]): unknown };
  };
  readonly plugin: {
    realtime: {
      RealtimeModel: new (options: Record<string, unknown>) => { session(): LiveKitSession; close(): Promise<void> };
    };
  };
  readonly rtc: {
    AudioFrame: new (data: Int16Array, sampleRate: number, channels: number, samples: number) => unknown;
  };
}
interface LiveKitSession {
  on(event: string, listener: (payload: any) => void): void;
  pushAudio(frame: unknown): void;
  generateReply(instructions?: string): Promise<unknown>;
  updateTools(tools: unknown): Promise<void>;
  truncate(options: { messageId: string; audioEndMs: number }): void;
  close(): Promise<void>;
}

async function loadLiveKit(): Promise<LiveKit> {
  const require = createRequire(path.join(home, 'package.json'));
  const load = (name: string): Promise<unknown> => import(pathToFileURL(require.resolve(name)).href);
  const [agents, plugin, rtc] = await Promise.all(
    ['@livekit/agents', '@livekit/agents-plugin-openai', '@livekit/rtc-node'].map(load),
  );
  return { agents, plugin, rtc } as LiveKit;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function open(engines: ReturnType<typeof fakeEngines>) {
  const { agents, plugin, rtc } = await loadLiveKit();
  agents.initializeLogger({ pretty: false, level: 'error' });
  const { port } = await serve({ engines });
  const model = new plugin.realtime.RealtimeModel({
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: 'none',
    model: 'gpt-realtime',
  });
  const session = model.session();
  closing.push(() => session.close());
  const seen: { type: string; payload: any }[] = [];
  const waiting = new Set<() => void>();
  const names = [
    'input_speech_started',
    'input_speech_stopped',
    'generation_created',
    'input_audio_transcription_completed',
    'openai_server_event_received',
    'error',
  ];
  for (const type of names) {
    session.on(type, (payload) => {
      seen.push({ type, payload });
      for (const look of waiting) look();
    });
  }
  const waitFor = (matches: (event: { type: string; payload: any }) => boolean) =>
    new Promise<{ type: string; payload: any }>((resolve) => {
      const look = (): void => {
        const found = seen.find(matches);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const push = (samples: Float32Array): void => {
    const data = Int16Array.from(samples, (sample) => sample * 32_767);
    session.pushAudio(new rtc.AudioFrame(data, 24_000, 1, data.length));
  };
  return { session, seen, waitFor, push, agents };
}

async function textOf(generation: any): Promise<{ text: string; audioSamples: number }> {
  let text = '';
  let audioSamples = 0;
  for await (const message of generation.messageStream) {
    for await (const part of message.textStream) text += typeof part === 'string' ? part : part.text;
    for await (const frame of message.audioStream) audioSamples += frame.samplesPerChannel;
  }
  return { text, audioSamples };
}

describe.skipIf(!available)('LiveKit’s OpenAI realtime client', () => {
  it('holds a spoken turn with LiveKit’s client', async () => {
    const { waitFor, push, seen } = await open(fakeEngines({ says: ['One two three.'] }));
    await waitFor((event) => event.type === 'openai_server_event_received' && event.payload.type === 'session.updated');
    push(tone(700));
    push(silence(900));
    const heard = await waitFor((event) => event.type === 'input_audio_transcription_completed');
    expect(heard.payload.transcript).toBe('hello there');
    const { payload: generation } = await waitFor((event) => event.type === 'generation_created');
    const said = await textOf(generation);
    expect(said.text.trim()).toBe('One two three.');
    expect(said.audioSamples).toBe(7_200);
    expect(seen.filter((event) => event.type === 'error')).toEqual([]);
  });

  it('informs LiveKit’s client about a barge-in and ends the reply', async () => {
    const { waitFor, push, session } = await open(
      fakeEngines({ says: ['One two three four five six seven eight nine ten eleven twelve.'] }),
    );
    await waitFor((event) => event.type === 'openai_server_event_received' && event.payload.type === 'session.updated');
    await session.generateReply('Say something long.');
    await waitFor((event) => event.payload?.type === 'response.output_audio.delta');
    push(tone(900));
    await waitFor((event) => event.type === 'input_speech_started');
    const done = await waitFor((event) => event.payload?.type === 'response.done');
    expect(done.payload.response).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
  });

  it('calls the functions of LiveKit’s client', async () => {
    const calls = [{ name: 'get_weather', arguments: '{"place":"London"}' }];
    const engines = fakeEngines({ says: [{ text: 'Let me look.', calls }, 'It rains in London.'] });
    const { waitFor, session, agents } = await open(engines);
    await waitFor((event) => event.payload?.type === 'session.updated');
    const weather = agents.llm.tool({
      name: 'get_weather',
      description: 'The weather of a place.',
      parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
      execute: async () => 'It rains.',
    });
    await session.updateTools(agents.llm.toToolContext?.([weather]) ?? { get_weather: weather });
    const generation = (await session.generateReply('Will it rain?')) as {
      functionStream: AsyncIterable<{ name: string; args: string }>;
    };
    const made: { name: string; args: string }[] = [];
    for await (const call of generation.functionStream) made.push(call);
    expect(made).toMatchObject([{ name: 'get_weather', args: '{"place":"London"}' }]);
  });
});
