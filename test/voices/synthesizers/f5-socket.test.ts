import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/f5-socket.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { f5Route, floatsOf, openF5SocketServer } from '../../fakes/servers/f5-socket-server.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';

const voice = { kind: 'preset', id: 'martha' } as const;
const signal = new AbortController().signal;
const wordless = 'all it can do is to hang up';

synthesizerConformance({
  title: 'f5-socket',
  voice,
  behindServer: true,
  atRate: 'F5-TTS speaks at 24 kHz',
  undetectable: {
    'does not accept the key': wordless,
    'does not know the model': wordless,
    'does not accept the request': wordless,
    'wants to be left alone for a minute': wordless,
  },
  open: async (care?: CallPolicy) => opened(adapter, {}, { server: await openF5SocketServer(), route: f5Route, care }),
});

async function msOf(server: EngineServer): Promise<number> {
  const chunks = await say(openEngine(adapter, { baseUrl: server.url }), voice);
  return chunks.reduce((sum, { frame }) => sum + (frame.samples.length / frame.sampleRate) * 1000, 0);
}

const floats = floatsOf('Mind the step.');
const end = Buffer.from('END');
/** A float within the range of audio whose bytes contain the end mark, such as 0x00444e45. */
const marked = Buffer.concat([end, Buffer.alloc(1)]);

describe('F5-TTS over its socket', () => {
  it('F5-TTS gets each text at once, over a connection of its own', async () => {
    await using server = await openF5SocketServer();
    const engine = openEngine(adapter, { baseUrl: server.url });
    await say(engine, voice, { text: 'Mind the step. 小心台阶。' });
    await say(engine, voice);
    expect(server.requests.map(({ bytes }) => bytes.toString('utf8'))).toEqual([
      'Mind the step. 小心台阶。',
      'Mind the step.',
    ]);
    expect([server.connections, server.mostAtOnce]).toEqual([2, 1]);
  });

  it.each([
    ['glued to the sound', [Buffer.concat([floats, end])]],
    ['by itself', [floats, end]],
    ['in two', [floats, Buffer.from('E'), Buffer.from('ND')]],
    ['in three', [floats, Buffer.from('E'), Buffer.from('N'), Buffer.from('D')]],
    [
      'cut across the last sample',
      [floats.subarray(0, -3), Buffer.concat([floats.subarray(-3), Buffer.from('EN')]), Buffer.from('D')],
    ],
    ['after sound with the same letters in it', [floats.subarray(0, 400), marked, floats.subarray(404), end]],
  ])('F5-TTS ends if its end mark comes %s', async (_name, sends) => {
    await using server = await openF5SocketServer({ sends });
    expect(await msOf(server)).toBeCloseTo(240, 1);
  });

  it('F5-TTS that does not disconnect after its end is disconnected', async () => {
    await using server = await openF5SocketServer({ neverHangsUp: true });
    expect(await msOf(server)).toBeCloseTo(240, 1);
  });

  it.each([
    ['none', [floats]],
    ['half of one', [floats, Buffer.from('EN')]],
    ['one in the middle of a sample', [floats, Buffer.from('xEND')]],
  ])('F5-TTS counts as cut off if its end mark is %s', async (_name, sends) => {
    await using server = await openF5SocketServer({ sends });
    await expect(msOf(server)).rejects.toMatchObject({ name: 'EngineError' });
  });

  it('doctor checks F5-TTS by connecting', async () => {
    await using server = await openF5SocketServer();
    expect(await openEngine(adapter, { baseUrl: server.url }).check?.({ signal })).toContain('accepts connections');
    const nobody = openEngine(adapter, { baseUrl: 'tcp://127.0.0.1:9' });
    await expect(nobody.check?.({ signal })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
