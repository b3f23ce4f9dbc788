import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Engines } from '../../server/engines/engines.ts';
import type { EngineServer } from '../fakes/servers/engine-server.ts';
import { openChatModel } from '../conformance/engine-table.ts';
import { openSpeechServer } from '../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../fakes/servers/transcription-server.ts';
import { fakeTurnDetector } from '../fakes/turn-detector.ts';
import { fakeVad } from '../fakes/vad.ts';
import { serve } from './serve-rig.ts';
import { testFolder } from '../fakes/test-folder.ts';

/** Writes an engines file; returns its path. */
export async function enginesFile(content: unknown): Promise<string> {
  const file = path.join(testFolder(), 'engines.json');
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** Three servers that transcribe "hello there", reply "Good evening, traveller. Mind the step.", and speak in tones. */
export async function openCascadeServers(): Promise<
  AsyncDisposable & {
    readonly ear: EngineServer;
    readonly mind: EngineServer;
    readonly mouth: EngineServer;
    readonly file: string;
  }
> {
  const ear = await openTranscriptionServer();
  const mind = await openChatModel('Good evening, traveller. Mind the step.');
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
    asr: 'ear',
    llm: 'llama',
    tts: 'mouth',
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

/** A server on these engines, with a VAD that needs no model. */
export async function serveOn(engines: Engines): Promise<Awaited<ReturnType<typeof serve>>> {
  const summary = { get: () => engines.summary };
  // Tests count the synthesized texts, so no greeting is prepared.
  const responderFor: Engines['responderFor'] = (character) => {
    const responder = engines.responderFor(character);
    return {
      sampleRate: responder.sampleRate,
      listen: (audio, options) => responder.listen(audio, options),
      reply: (history, options) => responder.reply(history, options),
    };
  };
  const parts = { ...engines, responderFor, vad: fakeVad(), turnDetector: fakeTurnDetector() };
  return serve({ engines: Object.defineProperty(parts, 'summary', summary) });
}
