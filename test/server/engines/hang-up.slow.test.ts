import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatKinds } from '../../../agents/actor/open.ts';
import { openEngines } from '../../../server/engines/engines.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { omniKinds, recognizerKinds, synthesizerKinds } from '../../../server/engines/voice-kinds.ts';
import { writeWav } from '../../../voices/dsp/wav.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { engineTable, openChatModel, tableKeyVariable, type TabledEngine } from '../../conformance/engine-table.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { enginesFile, serveOn } from '../../rigs/engine-rig.ts';

/** Those that run in this process, role and kind, such as `llm llama-cpp`: there is no connection to close. */
const inProcess: readonly string[] = ['asr sherpa-onnx', 'llm node-llama-cpp', 'tts sherpa-onnx'];

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-hang-up-'));
const clip = path.join(folder, 'martha.wav');
beforeAll(async () => {
  process.env[tableKeyVariable] = 'sk-table';
  await writeWav(clip, tone(4_000, 16_000), 16_000);
});
afterAll(async () => {
  Reflect.deleteProperty(process.env, tableKeyVariable);
  await rm(folder, { recursive: true, force: true });
});

/** Generous, for a loaded machine. */
const patiently = { timeout: 15_000 };

/** Takes seconds to speak in any voice. */
const longReply = Array.from({ length: 12 }, (_, index) => `This is sentence number ${index + 1} of mine. `).join('');
const slowly = (role: string) => ({ kind: 'drip', pieces: role === 'tts' ? 40 : 200, everyMs: 20 }) as const;

/** A conversation with this engine for one stage; the others answer at once. */
async function talkOver(engine: TabledEngine) {
  const upstream = await engine.open(longReply);
  const ear = await openTranscriptionServer();
  const mind = await openChatModel(longReply);
  const mouth = await openSpeechServer();
  const engines = {
    ear: { kind: 'openai-transcriptions', dialect: 'speaches', baseUrl: `${ear.url}/v1` },
    llama: { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' },
    mouth: { kind: 'openai-speech', baseUrl: `${mouth.url}/v1` },
    ours: engine.settings(upstream),
  };
  const chains = { asr: 'ear', llm: 'llama', tts: 'mouth', [engine.role]: 'ours' };
  const references = { '*': { wav: clip, transcript: 'I keep the house.', language: 'en', consent: 'ours' } };
  const opened = await openEngines({ engines: await enginesFile({ engines, ...chains, references }) });
  const server = await serveOn(opened);
  const client = server.call('?model=alice');
  await client.until('session.created');
  const send = (samples: Float32Array): void =>
    client.send({ type: 'input_audio_buffer.append', audio: pcm16FromFloats(samples).toString('base64') });
  return {
    upstream,
    client,
    /** Speaks, and leaves a pause after it. */
    speak(ms: number): void {
      send(tone(ms));
      send(silence(1_500));
    },
    async [Symbol.asyncDispose]() {
      client.socket.terminate();
      await opened.close();
      await Promise.all([upstream, ear, mind, mouth].map((each: EngineServer) => each[Symbol.asyncDispose]()));
    },
  };
}

describe.each(engineTable.filter(({ role }) => role !== 'asr').map((each) => [each.title, each] as const))(
  'barge-in while %s is generating',
  (_title, engine) => {
    it('closes the connection to the engine on barge-in and sends no more of its reply', async () => {
      await using talk = await talkOver(engine);
      const { upstream, client } = talk;
      upstream.breaks(engine.dawdles ?? slowly(engine.role), { route: engine.route });
      talk.speak(900);
      const { response } = await client.until('response.created');
      const isOfIt = (event: Record<string, unknown>): boolean => event['response_id'] === response.id;
      if (engine.comesWhole === true) {
        // There is nothing to interrupt yet, so the client cancels.
        await expect
          .poll(() => upstream.requests.some((seen) => engine.route.endsWith(` ${seen.path}`)), patiently)
          .toBe(true);
        client.send({ type: 'response.cancel' });
      } else {
        await client.until('response.output_audio.delta');
        // An engine that synthesizes by the sentence is at the next one by then.
        await expect.poll(() => upstream.open, patiently).toBeGreaterThan(0);
        expect(upstream.abandoned).toBe(0);
        talk.speak(900);
      }
      const done = await client.until('response.done');
      expect(done['response']).toMatchObject({ id: response.id, status: 'cancelled' });
      await expect.poll(() => upstream.abandoned, patiently).toBeGreaterThan(0);
      // Everything in flight has arrived once a later request is answered.
      client.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } });
      await client.until('session.updated');
      expect(client.events.filter(isOfIt)).toEqual([]);
    }, 30_000);
  },
);

describe.each(engineTable.filter(({ role }) => role === 'asr').map((each) => [each.title, each] as const))(
  'clearing the input while %s transcribes',
  (_title, engine) => {
    it('closes the connection to the ASR engine when the input is cleared and sends no transcript', async () => {
      await using talk = await talkOver(engine);
      const { upstream, client } = talk;
      client.send({
        type: 'session.update',
        session: { type: 'realtime', audio: { input: { turn_detection: null } } },
      });
      await client.until('session.updated');
      upstream.breaks({ kind: 'silence', after: 0 }, { route: engine.route });
      talk.speak(900);
      await expect.poll(() => upstream.open, patiently).toBeGreaterThan(0);
      client.send({ type: 'input_audio_buffer.clear' });
      await client.until('input_audio_buffer.cleared');
      await expect.poll(() => [upstream.abandoned > 0, upstream.open], patiently).toEqual([true, 0]);
      expect(client.events.filter(({ type }) => /transcription/.test(String(type)))).toEqual([]);
    }, 30_000);
  },
);

it('lists every engine kind behind a server in the engine table', () => {
  const kinds = Object.entries({
    asr: recognizerKinds,
    llm: chatKinds,
    tts: synthesizerKinds,
    omni: omniKinds,
  });
  const known = kinds.flatMap(([role, each]) => Object.keys(each).map((kind) => `${role} ${kind}`));
  const tabled = engineTable.map(({ role, kind }) => `${role} ${kind}`);
  expect([...new Set([...tabled, ...inProcess])].toSorted()).toEqual(known.toSorted());
});
