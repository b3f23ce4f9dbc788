import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from '../../../server/config/config.ts';
import { presetIds } from '../../../server/engines/engines-file.ts';
import { wireSampleRate } from '../../../server/protocol/limits.ts';
import { startServer, type RunningServer } from '../../../server/app/serve.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { concatSamples, floatsFromPcm16, pcm16FromFloats } from '../../../voices/audio.ts';
import { atThePaceOfSpeech } from '../../fakes/spoken.ts';
import { sharedAvailable, sharedPath } from '../../shared.ts';
import { presetServers, type Clip, type ScriptedExchange, type PresetServers } from './preset-servers.ts';
import { record } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

type Client = ReturnType<typeof record>;

const { signal } = new AbortController();
const keys = ['DASHSCOPE_API_KEY', 'OPENAI_API_KEY'];
const folder = testFolder();
beforeAll(() => {
  for (const key of keys) process.env[key] ??= 'sk-in-test';
});

/** A real voice to clone. */
const clip: Clip = {
  wav: sharedPath('audio/LJ001-0004.wav'),
  transcript: 'produced the block books, which were the immediate predecessors of the true printed book,',
};
const longReply = Array.from({ length: 12 }, (_, index) => `This is sentence number ${index + 1} of mine.`).join(' ');

async function recording(file: string): Promise<Float32Array> {
  return (await readAudioFile(sharedPath(`audio/${file}`), { sampleRate: wireSampleRate, signal })).samples;
}

/** The pause that ends a turn. */
const pause = new Float32Array(2 * wireSampleRate);

/** The server as `--preset ID` starts it, its engines' addresses changed in an engines file. */
async function serveOn(preset: string, changes: PresetServers['changes']): Promise<RunningServer> {
  const references = { alice: { ...clip, language: 'en', consent: 'public domain' } };
  const engines = path.join(folder, `${preset}.json`);
  await writeFile(engines, JSON.stringify({ engines: changes, references }));
  const flags = { preset, engines, port: '0', logLevel: 'silent', workers: '1' };
  return startServer(readConfig({ flags, environment: {} }));
}

function speak({ send }: Client, samples: Float32Array): void {
  const chunk = wireSampleRate / 10;
  for (let at = 0; at < samples.length; at += chunk) {
    send({
      type: 'input_audio_buffer.append',
      audio: pcm16FromFloats(samples.subarray(at, at + chunk)).toString('base64'),
    });
  }
}

/** Length and peak of the running response, until it is done or `untilMs` have arrived. */
async function hear(client: Client, untilMs = Number.POSITIVE_INFINITY) {
  const pieces: Float32Array[] = [];
  let ms = 0;
  let loudest = 0;
  for (let at = 0; ; at += 1) {
    await expect.poll(() => client.events.length > at, { timeout: 20_000, interval: 5 }).toBe(true);
    const event = client.events[at]!;
    if (event['type'] === 'response.output_audio.delta') {
      const samples = floatsFromPcm16(Buffer.from(String(event['delta']), 'base64'));
      pieces.push(samples);
      ms += (samples.length / wireSampleRate) * 1000;
      loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), loudest);
    }
    if (event['type'] === 'response.done' || ms >= untilMs) return { ms, loudest };
  }
}

describe.skipIf(!sharedAvailable)('presets over their in-test servers', () => {
  it('covers every preset with in-test servers', () => {
    expect(Object.keys(presetServers).toSorted()).toEqual(presetIds.toSorted());
  });

  it.each(presetIds)(
    'holds a spoken conversation with barge-in on the preset %s in the character’s voice',
    async (preset) => {
      const cue: ScriptedExchange = { hears: 'In being comparatively modern.', says: 'Good evening, my friend.' };
      const open = presetServers[preset];
      if (open === undefined) throw new Error('no servers');
      const upstream = await open(cue);
      const server = await serveOn(preset, upstream.changes);
      const client = record(new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime?model=alice`));
      try {
        await client.until('session.created');
        const heardBy = upstream.servers['whisper'] ?? upstream.servers['paraformer'];

        speak(client, concatSamples([await recording('LJ001-0002.wav'), pause]));
        const first = await client.until('conversation.item.input_audio_transcription.completed');
        expect(first['transcript']).toMatch(/^in being comparatively modern\W?$/i);
        const greeting = await hear(client);
        expect(greeting.ms).toBeGreaterThan(250);
        expect(greeting.loudest).toBeGreaterThan(0.1);
        const { response } = await client.until('response.done');
        expect(response).toMatchObject({ status: 'completed' });
        expect(response.output[0].content[0].transcript.trim()).toBe('Good evening, my friend.');
        const [asked, wanted] = await upstream.voiceAsked(clip);
        expect(asked).toEqual(wanted);

        // The user speaks over the second reply in real time, because an overlap is classified while it lasts.
        [cue.hears, cue.says] = ['Produced the block books.', longReply];
        speak(client, concatSamples([await recording('LJ001-0004.wav'), pause]));
        await hear(client, 1_200);
        [cue.hears, cue.says] = ['In being comparatively modern.', 'As you wish.'];
        // Later than 600 ms into the reply: earlier, it would count as never begun.
        const interruption = concatSamples([new Float32Array(0.8 * wireSampleRate), await recording('LJ001-0002.wav')]);
        await atThePaceOfSpeech(interruption, (piece) => speak(client, piece));
        speak(client, pause);
        const cut = (await client.until('response.done'))['response'];
        expect(cut).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } });
        const last = await client.until('conversation.item.input_audio_transcription.completed');
        expect(last['transcript']).toMatch(/comparatively modern/i);
        expect((await client.until('response.done'))['response']).toMatchObject({ status: 'completed' });

        client.send({ type: 'conversation.item.retrieve', item_id: cut.output[0].id });
        const { item } = await client.until('conversation.item.retrieved');
        const kept = item.content[0].transcript.trim();
        expect(kept).toMatch(/^This is/);
        expect(longReply.startsWith(kept)).toBe(true);
        expect(kept.length).toBeLessThan(longReply.length / 2);
        const messages = upstream.messagesAsked().at(-1) ?? '';
        expect(messages).toContain(kept);
        expect(messages).not.toContain('sentence number 12');
        expect(heardBy?.requests.length ?? 1).toBeGreaterThan(0);
      } finally {
        client.socket.terminate();
        await server.close();
        await Promise.all(Object.values(upstream.servers).map((each) => each[Symbol.asyncDispose]()));
      }
    },
    60_000,
  );
});
