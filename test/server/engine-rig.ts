import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { replyEvents } from '../fakes/chat-server.ts';
import { openEngineServer, type EngineServer } from '../fakes/engine-server.ts';
import { openSpeechServer } from '../fakes/speech-server.ts';
import { openTranscriptionServer } from '../fakes/transcription-server.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-engine-rig-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
let files = 0;

/** Writes an engines file; returns its path. */
export async function enginesFile(content: unknown): Promise<string> {
  const file = path.join(folder, `${(files += 1)}.json`);
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** Three servers that hear "hello there", answer "Good evening, traveller. Mind the step.", and speak in tones. */
export async function openCascadeServers(): Promise<
  AsyncDisposable & {
    readonly ear: EngineServer;
    readonly mind: EngineServer;
    readonly mouth: EngineServer;
    readonly file: string;
  }
> {
  const ear = await openTranscriptionServer();
  const mind = await openEngineServer({
    'POST /v1/chat/completions': () => ({
      headers: { 'content-type': 'text/event-stream' },
      body: replyEvents(['Good evening, ', 'traveller. ', 'Mind the step.']),
    }),
    'GET /v1/models': () => ({ headers: { 'content-type': 'application/json' }, body: '{"data":[{"id":"llama"}]}' }),
  });
  const mouth = await openSpeechServer();
  const file = await enginesFile({
    engines: {
      ear: { kind: 'openai-transcriptions', dialect: 'speaches', baseUrl: `${ear.url}/v1`, model: 'whisper' },
      llama: { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' },
      mouth: {
        kind: 'openai-speech',
        dialect: 'kokoro',
        baseUrl: `${mouth.url}/v1`,
        model: 'small-voice',
        voices: { '*': 'af_heart' },
      },
    },
    recognizer: 'ear',
    mind: 'llama',
    synthesizer: 'mouth',
  });
  return {
    ear,
    mind,
    mouth,
    file,
    async [Symbol.asyncDispose]() {
      await Promise.all([ear, mind, mouth].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}
