import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { replyEvents } from '../../fakes/servers/chat-server.ts';
import { testFolder } from '../../fakes/test-folder.ts';
import { hasRedis, startCluster } from '../../rigs/cluster-rig.ts';
import { recordTalk } from '../../rigs/talk-rig.ts';

const sampleRate = 24_000;
const phrases = [
  'I once met a Duchess in a kitchen full of pepper.',
  ' She was nursing a baby that turned into a pig.',
  ' Nobody in the kitchen seemed to be at all surprised.',
];
const phraseMs = 3_000;

/** A voice that never says the same twice: each request has a tone of its own. Streams faster than it is heard. */
async function openVoice() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      if (request.method === 'GET') return response.writeHead(404).end();
      const { input } = JSON.parse(body) as { input: string };
      // Greetings are prepared meanwhile.
      if (phrases.some((phrase) => phrase.trim() === input.trim())) asked.push(input.trim());
      const pitch = 300 + 100 * asked.length;
      const samples = Int16Array.from({ length: (sampleRate * phraseMs) / 1000 }, (_, index) => {
        return 9_000 * Math.sin((2 * Math.PI * pitch * index) / sampleRate);
      });
      response.setHeader('content-type', 'audio/pcm');
      for (let offset = 0; offset < samples.length; offset += 4_800)
        response.write(Buffer.from(samples.slice(offset, offset + 4_800).buffer));
      response.end();
      return undefined;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

async function openLlm() {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.method === 'GET') return response.writeHead(404).end();
      response.setHeader('content-type', 'text/event-stream');
      response.end(replyEvents(phrases).join(''));
      return undefined;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

/** The tones of a sound, each with its length in milliseconds; a tone that lasts less than 60 ms belongs to its neighbour. */
function tonesOf(pcm16: Uint8Array): { readonly pitch: number; readonly ms: number }[] {
  const samples = floatsFromPcm16(Buffer.from(pcm16));
  const window = sampleRate / 50;
  const found: { pitch: number; ms: number }[] = [];
  for (let offset = 0; offset + window <= samples.length; offset += window) {
    let rises = 0;
    for (let at = offset + 1; at < offset + window; at += 1)
      if ((samples[at] ?? 0) >= 0 && (samples[at - 1] ?? 0) < 0) rises += 1;
    const pitch = Math.round((rises * 50) / 100) * 100;
    const last = found.at(-1);
    if (last?.pitch === pitch) last.ms += 20;
    else found.push({ pitch, ms: 20 });
  }
  return found.filter(({ ms }) => ms >= 60);
}

describe.skipIf(!hasRedis)('a node that is killed while a voice speaks that never says the same twice', () => {
  it('the phrase goes on at another node with the same sound, is asked for once, and its length does not change', async () => {
    const [voice, llm] = [await openVoice(), await openLlm()];
    const engines = path.join(testFolder(), 'engines.json');
    const tts = { kind: 'openai-speech', baseUrl: voice.url, model: 'tones', sampleRate, streams: true };
    writeFileSync(engines, JSON.stringify({ engines: { tones: tts }, tts: ['tones'] }));
    const cluster = await startCluster({
      DRAMATIS_LLM_BASE_URL: llm.url,
      DRAMATIS_LLM_MODEL: 'actor',
      DRAMATIS_ENGINES: engines,
      DRAMATIS_PLAYOUT_AHEAD_MS: '200',
    });
    await using _ = cluster;
    const place = { program: path.join(import.meta.dirname, '../../rigs/cluster/real-engines-process.ts') };
    const [first, second] = [await cluster.addNode({}, place), await cluster.addNode({}, place)];
    cluster.balancer.sendTo(first);
    const recorded = recordTalk({ url: cluster.balancer.url });
    await recorded.talk.opened;
    recorded.talk.say('Tell me a story.');
    // In the middle of the second phrase.
    const bytesPerMs = (sampleRate / 1000) * 2;
    while (recorded.replySound().length < (phraseMs + 1_000) * bytesPerMs)
      await recorded.until('response.output_audio.delta', recorded.of('response.output_audio.delta').length + 1);
    const [lines = ''] = await cluster.client.keys('*lines*');
    const kept = (await cluster.client.lrange(lines, 0, -1)).filter((line) => line.includes('"type":"sound"'));
    // The first two phrases; Opus in base64 has 7 kB a second.
    expect(kept).toHaveLength(2);
    for (const line of kept) expect(line.length).toBeLessThan((phraseMs / 1000) * 8_000);
    cluster.balancer.sendTo(second);
    await first.kill();
    await recorded.until('response.done', 2);
    recorded.talk.close();

    const said = recorded
      .of('response.output_audio_transcript.delta')
      .map(({ delta }) => delta)
      .join('');
    expect(said.replaceAll(/\s+/gu, ' ').trim()).toBe(phrases.join('').replaceAll(/\s+/gu, ' '));
    expect(recorded.replySound().length).toBe(3 * phraseMs * bytesPerMs);
    // The second phrase was asked for once; the third perhaps twice: its beginning may have been made by the first node.
    const times = phrases.map((phrase) => voice.asked.filter((text) => text === phrase.trim()).length);
    expect(times.slice(0, 2)).toEqual([1, 1]);
    const tones = tonesOf(recorded.replySound());
    expect(tones.slice(0, 2).map(({ pitch }) => pitch)).toEqual([400, 500]);
    expect(tones.length).toBe(3);
    for (const { ms } of tones) expect(Math.abs(ms - phraseMs)).toBeLessThan(60);
    voice.server.close();
    llm.server.close();
  }, 300_000);
});
