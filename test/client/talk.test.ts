import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { SpeakerListener, TalkOptions } from '../../server/client/types/api.d.ts';
import * as client from '../../server/client/open-talk.js';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { SimulatedSpeaker } from './simulated-speaker.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

const long = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.';

/** A conversation whose replies play on a speaker that the test advances. */
async function talkAloud(options: Omit<TalkOptions, 'onEvent' | 'speaker'>) {
  let speaker: SimulatedSpeaker | undefined;
  const open = async (listener: SpeakerListener): Promise<SimulatedSpeaker> =>
    (speaker = new SimulatedSpeaker(listener));
  const recorded = recordTalk({ ...options, speaker: open });
  await recorded.talk.opened;
  if (speaker === undefined) throw new Error('the loudspeaker was not opened');
  return { recorded, speaker };
}

afterEach(() => void vi.useRealTimers());

/** The package's type declarations match its exports. */
const declared: typeof import('../../server/client/types/api.d.ts') = client;

describe('openTalk', () => {
  it('exports openTalk and TalkError and nothing else from the package', () => {
    expect(Object.keys(declared).toSorted()).toEqual(['TalkError', 'openTalk']);
  });

  it('answers a typed message, reports everything in order and ends when it is closed', async () => {
    await using rig = await openRig({ says: ['Fourteen words.'] });
    const talk = client.openTalk({ url: rig.url, character: 'alice' });
    const types: string[] = [];
    let words = '';
    for await (const event of talk.events) {
      types.push(event.type);
      if (event.type === 'connection.open') expect(talk.say('How many words?')).toBe(true);
      if (event.type === 'response.output_audio_transcript.delta') words += event.delta;
      if (event.type === 'response.done') talk.close();
    }
    expect(words.trim()).toBe('Fourteen words.');
    expect(types.slice(0, 3)).toEqual(['connection.connecting', 'connection.open', 'session.created']);
    expect(types).toContain('response.done');
    expect(types.at(-1)).toBe('connection.closed');
    expect(talk.say('Anybody there?')).toBe(false);
    expect(talk.sendAudio(new ArrayBuffer(960))).toBe(false);
  });

  it('asks for the next answer when the present one has ended, in any state of the server', async () => {
    await using rig = await openRig({ says: [long, 'Second.', 'Third.'] });
    const recorded = recordTalk({ url: rig.url });
    await recorded.talk.opened;
    recorded.talk.say('First question');
    await recorded.until('response.created');
    recorded.talk.say('Second question');
    recorded.talk.say('Third question');
    const said = (): string[] =>
      recorded.of('response.output_audio_transcript.done').map(({ transcript }) => transcript);
    await expect.poll(() => said().at(-1)).toMatch(/Second|Third/);
    expect(recorded.of('error')).toEqual([]);
    recorded.talk.close();
  });

  it('informs the server by its close code whether it will reconnect', async () => {
    await using plain = await openPlainServer();
    const recorded = recordTalk({ url: `http://127.0.0.1:${plain.port}` });
    await recorded.talk.opened;
    recorded.talk.reconnect();
    await recorded.until('connection.open', 2);
    await expect.poll(() => plain.closeCodes).toEqual([4000]);
    recorded.talk.close();
    await expect.poll(() => plain.closeCodes).toEqual([4000, 1000]);
  });

  it('works with a server without our extensions and starts a new session when the connection is cut', async () => {
    await using plain = await openPlainServer();
    await using proxy = await openFlakyProxy(plain.port);
    const recorded = recordTalk({ url: proxy.url });
    await recorded.talk.opened;
    recorded.talk.sendAudio(Uint8Array.from([1, 0, 2, 0]));
    recorded.talk.say('Hello');
    await recorded.until('response.done');
    expect([...recorded.replySound().subarray(0, 6)]).toEqual([5, 0, 6, 0, 0, 0]);
    proxy.cut();
    expect(await recorded.until('connection.open', 2)).toMatchObject({ isNew: true });
    recorded.talk.close();
    expect(plain.seen.map(({ type }) => type)).toEqual([
      'input_audio_buffer.append',
      'conversation.item.create',
      'response.create',
    ]);
    expect(plain.seen[0]).toEqual({ type: 'input_audio_buffer.append', audio: 'AQACAA==' });
  });
});

/** A stock OpenAI Realtime server: no frame numbers, no binary frames, no resuming. */
async function openPlainServer(extensions: readonly string[] = []) {
  const seen: { type: string }[] = [];
  const closeCodes: number[] = [];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const place = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 };
  server.on('connection', (socket) => {
    const send = (event: Record<string, unknown>): void => socket.send(JSON.stringify(event));
    send({ type: 'session.created', session: { id: 'sess', x_dramatis: { extensions } } });
    socket.on('close', (code) => closeCodes.push(code));
    socket.on('message', (data) => {
      const event = JSON.parse((data as Buffer).toString()) as { type: string };
      seen.push(event);
      if (event.type !== 'response.create') return;
      send({ type: 'response.created', response: { id: 'r' } });
      send({ type: 'response.output_audio.delta', ...place, delta: `BQAGAA${'A'.repeat(6_400)}==` });
      send({ type: 'response.done', response: { id: 'r', status: 'completed' } });
    });
  });
  return {
    seen,
    closeCodes,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('playback reports', () => {
  it('reports the heard position to a server that wants it before the reply is truncated', async () => {
    await using plain = await openPlainServer(['heard']);
    const { recorded, speaker } = await talkAloud({ url: `http://127.0.0.1:${plain.port}` });
    recorded.talk.say('Hello');
    await recorded.until('response.done');
    speaker.advance(10);
    await recorded.talk.interrupt();
    recorded.talk.close();
    const heard = { type: 'x_dramatis.heard', event_id: 'unasked', response_id: 'r' };
    await expect
      .poll(() => plain.seen.slice(2))
      .toEqual([
        { ...heard, samples: 128 },
        { ...heard, samples: 384 },
        { type: 'conversation.item.truncate', event_id: 'unasked', item_id: 'i', content_index: 0, audio_end_ms: 16 },
      ]);
  });

  it('reports the heard position during playback, from which the server measures latency', async () => {
    await using rig = await openRig({
      says: ['one two three four five.'],
      flags: { playoutAheadMs: '200' },
    });
    const { recorded, speaker } = await talkAloud({ url: rig.url });
    recorded.talk.say('Count.');
    await recorded.until('response.output_audio.delta', 2);
    speaker.advance(100);
    const { responseId, playedMs } = recorded.of('playback.progress').at(-1) ?? {};
    const { response } = await recorded.until('response.done');
    expect(responseId).toBe(response.id);
    expect(playedMs).toBeCloseTo(100, -1);
    expect(response.x_dramatis?.latency?.heard_ms).toBeTypeOf('number');
    speaker.advance(1_000);
    expect(recorded.of('playback.ended')).toHaveLength(1);
    recorded.talk.close();
  });
});
