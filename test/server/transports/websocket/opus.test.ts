import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from '../../../fakes/property.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeFrame } from '../../../../server/client/connection/binary-frame.js';
import { concatSamples } from '../../../../voices/audio.ts';
import { fakeEngines } from '../../../fakes/engines.ts';
import { silence } from '../../../fakes/vad.ts';
import { signalToNoise, voiceLike } from '../../../fakes/voice-like.ts';
import { voicedSynthesizer } from '../../../fakes/voiced-synthesizer.ts';
import { openBare, packetsOf, soundOf } from './opus-client.ts';
import { serve } from '../../../rigs/serve-rig.ts';

const flags = { playoutAheadMs: '5000' };
const clients: ReturnType<typeof openBare>[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});

async function open(options: Parameters<typeof fakeEngines>[0] = {}, query = '&x=opus') {
  const synthesizer = voicedSynthesizer();
  const engines = fakeEngines({ synthesizer, ...options });
  const server = await serve({ engines, flags });
  const call = async (more = query) => {
    const client = openBare(`ws://${server.at}/v1/realtime?model=alice${more}`);
    clients.push(client);
    await client.until(more.includes('resume=') ? 'x_dramatis.resumed' : 'session.created');
    return client;
  };
  return { server, engines, synthesizer, call, client: await call() };
}

describe('reply as Opus', () => {
  it('sends an Opus reply to the sample in an eighth of the bytes', async () => {
    const { client, synthesizer } = await open({ says: ['one two three four five six seven.'] });
    expect((await client.ask())['status']).toBe('completed');
    const made = synthesizer.made();
    const sound = await soundOf(client.binary());
    expect(sound).toHaveLength(made.length);
    expect(signalToNoise(made, sound, 1)).toBeGreaterThan(15);
    const bytes = client.binary().reduce((sum, frame) => sum + frame.length, 0);
    expect((made.length * 2) / bytes).toBeGreaterThan(6);
    expect(client.of('response.output_audio.delta')).toEqual([]);
  });

  it('cuts the Opus stream of a cancelled reply and sends the next one whole', async () => {
    const { client, server } = await open({ says: ['one two three four five six. '.repeat(40), 'seven eight.'] });
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Count.' }] };
    client.send({ type: 'conversation.item.create', item });
    client.send({ type: 'response.create' });
    await client.until('response.output_audio_transcript.delta', 3);
    client.send({ type: 'response.cancel' });
    expect((await client.until('response.done'))['response'].status).toBe('cancelled');
    const first = client.binary().length;
    await soundOf(client.binary());
    await client.ask();
    expect(await soundOf(client.binary().slice(first))).toHaveLength(4_800);
    expect(server.log.join('')).not.toContain('fault');
  });
});

describe('user audio as Opus', () => {
  const speech = concatSamples([silence(200), voiceLike(800, 24_000), silence(1_000)]);

  it('transcribes the Opus input of each player, and names who spoke', async () => {
    const { client } = await open({ hears: ['good evening', 'good night'], says: ['Yes.', 'Good.'] });
    const players = [1, 2].map((number) => ({ number, name: `Player ${number}` }));
    client.send({ type: 'session.update', session: { type: 'realtime', x_dramatis: { players } } });
    await client.until('session.updated');
    const still = await packetsOf(new Float32Array(480));
    for (const [at, player] of [2, 1].entries()) {
      // The first packets of both come together.
      for (const { packet, skipSamples, takeSamples } of still)
        for (const each of [2, 1]) client.sendPacket(packet, skipSamples, takeSamples, each);
      for (const { packet, skipSamples, takeSamples } of await packetsOf(speech))
        client.sendPacket(packet, skipSamples, takeSamples, player);
      await client.until('response.done', at + 1);
    }
    expect(client.codes()).toEqual([]);
    const named = client.of('conversation.item.added').flatMap(({ item }) => item.x_dramatis?.speaker?.name ?? []);
    expect(named).toEqual(['Player 2', 'Player 1']);
  });

  it('transcribes Opus input and PCM frames in between', async () => {
    const { client } = await open({ hears: ['good evening', 'good night'], completeness: [0.6] });
    for (const { packet, skipSamples, takeSamples } of await packetsOf(speech)) {
      client.sendPacket(packet, skipSamples, takeSamples);
    }
    const heard = 'conversation.item.input_audio_transcription.completed';
    expect((await client.until(heard))['transcript']).toBe('good evening');
    await client.until('response.done');
    const pcm16 = new Uint8Array(48_000);
    client.socket.send(encodeFrame({ kind: 'input', replyNumber: 0, sequence: 500, offsetSamples: 0, pcm16 }));
    await client.ask();
    expect(client.codes()).toEqual([]);
    expect(client.of(heard)).toHaveLength(1);
  });

  it('refuses Opus input that was not negotiated', async () => {
    const { client } = await open({}, '&x=binary');
    client.sendPacket((await packetsOf(speech))[0]?.packet ?? new Uint8Array(1));
    await client.ask();
    expect(client.codes()).toEqual(['binary_not_supported']);
  });

  it('reports broken Opus packets and transcribes the next good one', async () => {
    const { client } = await open();
    const [good = { packet: new Uint8Array(0) }] = await packetsOf(speech);
    client.sendPacket(new Uint8Array(0));
    // Two frames of one length in an odd number of bytes (RFC 6716, section 3.2.3).
    client.sendPacket(Uint8Array.from([0x01, 1, 2, 3, 4, 5]));
    client.sendPacket(good.packet, 400, 81);
    client.sendPacket(new Uint8Array(5_000));
    client.sendPacket(good.packet);
    await client.ask();
    expect(client.codes()).toEqual(Array.from({ length: 4 }, () => 'invalid_audio'));
  });

  it('survives arbitrary bytes as Opus packets', async () => {
    const { client, server } = await open();
    const good = (await packetsOf(speech)).map(({ packet }) => packet);
    const damaged = fc
      .tuple(fc.constantFrom(...good), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat({ max: 200 }))
      .map(([packet, at, value, length]) => packet.with(at % packet.length, value).slice(0, length));
    const packets = fc.sample(fc.oneof(fc.uint8Array({ maxLength: 300 }), damaged), { numRuns: 400, seed: 5 });
    const counts = fc.sample(fc.nat({ max: 4_000 }), { numRuns: 800, seed: 6 });
    for (const [index, packet] of packets.entries())
      client.sendPacket(packet, counts[2 * index] ?? 0, counts[2 * index + 1]);
    client.send({ type: 'input_audio_buffer.clear' });
    await client.until('input_audio_buffer.cleared');
    await client.ask();
    expect(new Set(client.codes())).toEqual(new Set(['invalid_audio']));
    expect(server.log.join('')).not.toContain('fault');
  });
});

describe('Opus session', () => {
  it('resumes an Opus session on another server process', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-opus-'));
    const stored = { ...flags, store: true, dataDir };
    const first = await serve({ engines: fakeEngines(), flags: stored });
    const before = openBare(`ws://${first.at}/v1/realtime?model=alice&x=opus,resume`);
    const { token } = (await before.until('session.created'))['session'].x_dramatis.resume;
    await before.ask();
    before.socket.terminate();
    const second = await serve({ engines: fakeEngines({ says: ['four five.'] }), flags: stored });
    const after = openBare(`ws://${second.at}/v1/realtime?x=opus,resume&resume=${token}&after=1`);
    clients.push(before, after);
    expect(await after.until('x_dramatis.resumed')).toMatchObject({ restarted: true });
    expect((await after.ask())['status']).toBe('completed');
    expect(await soundOf(after.binary())).toHaveLength(4_800);
    after.sendPacket(new Uint8Array(0));
    await after.ask();
    expect(after.codes()).toEqual(['invalid_audio']);
    await rm(dataDir, { recursive: true, force: true });
  });

  it('releases a session whose socket closes before it has begun', async () => {
    const { server } = await open();
    for (let index = 0; index < 20; index += 1) {
      const client = openBare(`ws://${server.at}/v1/realtime?model=alice&x=opus`);
      client.socket.once('open', () => client.socket.terminate());
      await client.closed;
    }
    await expect.poll(() => server.sessions.active).toBe(1);
  });
});
