import { WebSocket } from 'ws';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openOpus } from '../../server/client/audio/opus.js';
import { openTalk } from '../../server/client/open-talk.js';
import { floatsFromPcm16 } from '../../voices/audio.ts';
import { orderViolations } from '../conformance/realtime-order.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { openFlakyProxy } from '../fakes/network/flaky-proxy.ts';
import { signalToNoise } from '../fakes/voice-like.ts';
import { voicedSynthesizer } from '../fakes/voiced-synthesizer.ts';
import { serve } from '../rigs/serve-rig.ts';
import { openRig, recordTalk } from '../rigs/talk-rig.ts';

const long = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.';

afterEach(() => void vi.unstubAllGlobals());

/** A WebSocket that counts what passes as binary frames of each codec. */
function countingSocket() {
  const counts = { sent: [0, 0], received: [0, 0] };
  const count = (way: 'sent' | 'received', bytes: Uint8Array): void => {
    const codec = bytes[1] ?? 0;
    counts[way][codec] = (counts[way][codec] ?? 0) + 1;
  };
  class Counting extends WebSocket {
    constructor(url: string | URL, protocols: string[]) {
      super(url, protocols);
      this.on('message', (data: ArrayBuffer, isBinary: boolean) => {
        if (isBinary) count('received', new Uint8Array(data));
      });
    }

    override send(data: string | Uint8Array): void {
      if (typeof data !== 'string') count('sent', data);
      super.send(data);
    }
  }
  return { counts, Counting };
}

describe('open-talk with Opus', () => {
  it('delivers every sample of an Opus reply before the event that ends it', async () => {
    const synthesizer = voicedSynthesizer();
    const server = await serve({
      engines: fakeEngines({ synthesizer, says: [long] }),
      flags: { playoutAheadMs: '5000' },
    });
    const { counts, Counting } = countingSocket();
    const recorded = recordTalk({ url: server.url, opus: true, WebSocket: Counting });
    await recorded.talk.opened;
    recorded.talk.say('Count.');
    await recorded.until('response.done');
    const made = synthesizer.made();
    const came = floatsFromPcm16(recorded.replySound());
    expect(came).toHaveLength(made.length);
    expect(signalToNoise(made, came, 1)).toBeGreaterThan(15);
    expect(counts.received[0]).toBe(0);
    expect(orderViolations(recorded.fromServer())).toEqual([]);
    let offset = 0;
    for (const { offset_samples: at, pcm16 } of recorded.of('response.output_audio.delta')) {
      expect(at).toBe(offset);
      offset += pcm16.length / 2;
    }
    const types = recorded.all.map(({ type }) => type);
    expect(types.lastIndexOf('response.output_audio.delta')).toBeLessThan(types.indexOf('response.output_audio.done'));
    recorded.talk.close();
  });

  it('sends all of the user’s Opus audio before it is committed', async () => {
    await using rig = await openRig({ hears: ['good evening'] });
    const { counts, Counting } = countingSocket();
    const recorded = recordTalk({ url: rig.url, opus: true, WebSocket: Counting });
    await recorded.talk.opened;
    recorded.talk.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { turn_detection: null } } },
    });
    recorded.send(new Float32Array(10_007).fill(0.1));
    recorded.talk.send({ type: 'input_audio_buffer.commit' });
    const { transcript } = await recorded.until('conversation.item.input_audio_transcription.completed');
    expect(transcript).toBe('good evening');
    const [heardMs] = (rig.engines.recognizer as unknown as { heardMs: number[] }).heardMs;
    expect(heardMs).toBe(416.5625);
    expect(counts.sent).toEqual([0, 22]);
    expect(recorded.of('error')).toEqual([]);
    recorded.talk.close();
  });

  it('resumes an Opus conversation over a cut connection with nothing missing on either side', async () => {
    await using rig = await openRig({ says: [long, long] });
    await using proxy = await openFlakyProxy(rig.port);
    const recorded = recordTalk({ url: proxy.url, opus: true });
    await recorded.talk.opened;
    recorded.talk.say('Count.');
    await recorded.until('response.output_audio.delta', 5);
    proxy.cut();
    recorded.speak(400);
    await recorded.until('response.done', 2);
    expect(proxy.taken).toBeGreaterThan(1);
    expect(recorded.of('connection.open').map(({ isNew, lostMs }) => [isNew, lostMs])).toEqual([
      [true, 0],
      [false, 0],
    ]);
    const [first] = recorded.of('response.done');
    const ofFirst = recorded
      .of('response.output_audio.delta')
      .filter((event) => event.response_id === first?.response.id);
    const samples = ofFirst.reduce((sum, { pcm16 }) => sum + pcm16.length / 2, 0);
    expect(ofFirst.at(-1)?.offset_samples).toBe(samples - (ofFirst.at(-1)?.pcm16.length ?? 0) / 2);
    expect(orderViolations(recorded.fromServer())).toEqual([]);
    expect(rig.engines.recognizer).toHaveProperty('heardMs.length', 1);
    recorded.talk.close();
  });

  it('falls back to PCM if the runtime has no Opus codec', async () => {
    const unable = { isConfigSupported: () => Promise.reject(new TypeError('not here')) };
    vi.stubGlobal('AudioEncoder', unable);
    vi.stubGlobal('AudioDecoder', unable);
    expect(await openOpus()).toBeUndefined();
    await using rig = await openRig();
    const { counts, Counting } = countingSocket();
    const recorded = recordTalk({ url: rig.url, opus: true, WebSocket: Counting });
    await recorded.talk.opened;
    recorded.send(new Float32Array(960));
    recorded.talk.say('Hello.');
    await recorded.until('response.done');
    expect(recorded.replySound()).toEqual(rig.made());
    expect([counts.sent, counts.received[1]]).toEqual([[1, 0], 0]);
    recorded.talk.close();
  });

  it('opens no session if an Opus conversation is closed before it has begun', async () => {
    await using rig = await openRig();
    const talk = openTalk({ url: rig.url, opus: true, WebSocket });
    talk.close();
    const types: string[] = [];
    for await (const { type } of talk.events) types.push(type);
    expect(types).toEqual(['connection.closed']);
    await expect(talk.opened).rejects.toThrow('closed');
    expect(rig.sessions.active).toBe(0);
  });
});
