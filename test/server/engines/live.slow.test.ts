import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { openChatAudioServer } from '../../fakes/servers/chat-audio-server.ts';
import { openChatModel } from '../../conformance/engine-table.ts';
import { openSpeechServer } from '../../fakes/servers/speech-server.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { enginesFile } from '../../rigs/engine-rig.ts';

const vitest = path.join(path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

/** `npm run test:live`, on these engines. */
function live(engines: string): Promise<{ readonly status: number; readonly printed: string }> {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, 'run', '--config', 'test/live/vitest.config.ts'],
      { env: { ...environment, DRAMATIS_ENGINES: engines }, maxBuffer: 2 ** 24 },
      (fault, stdout, stderr) =>
        resolve({ status: typeof fault?.code === 'number' ? fault.code : 0, printed: stdout + stderr }),
    );
  });
}

it('runs the live suites against the configured engines and reports what is skipped and why', async () => {
  const ear = await openTranscriptionServer({ text: 'The weather is fine today.' });
  const mind = await openChatModel('Good evening, traveller.');
  const mouth = await openSpeechServer();
  const omni = await openChatAudioServer();
  const servers: readonly EngineServer[] = [ear, mind, mouth, omni];
  try {
    const file = await enginesFile({
      engines: {
        ear: { kind: 'openai-transcriptions', dialect: 'speaches', baseUrl: `${ear.url}/v1`, model: 'whisper' },
        llama: { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' },
        mouth: { kind: 'openai-speech', baseUrl: `${mouth.url}/v1`, model: 'small-voice' },
        down: { kind: 'sidecar', baseUrl: 'http://127.0.0.1:1', retries: 0 },
        omni: { kind: 'openai-chat-audio', baseUrl: `${omni.url}/v1`, model: 'gpt-audio' },
      },
      asr: 'ear',
      llm: 'llama',
      tts: ['mouth', 'down', 'embedded'],
      omni: 'omni',
    });
    const { status, printed } = await live(file);
    expect([status, printed]).toEqual([0, expect.any(String)]);
    for (const server of servers) expect(server.requests.length).toBeGreaterThan(5);
    expect(printed).toMatch(/✓ .*asr openai-transcriptions, "ear" as a recognizer > the recognizer states its name/);
    expect(printed).toMatch(
      /✓ .*omni openai-chat-audio, "omni" as an omni model > the omni model emits text and audio/,
    );
    expect(printed).toMatch(/SKIPPED tts sidecar, "down": the server cannot be reached \(ECONNREFUSED\)/);
    expect(printed).toContain('SKIPPED asr funasr: none is configured');
  } finally {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
}, 180_000);

it('fails the live suites if an engine breaks the contract', async () => {
  await using mind = await openChatModel('Good evening.');
  // The model list is served, but replies are empty.
  mind.breaks({ kind: 'empty' }, { route: 'POST /v1/chat/completions' });
  const llama = { kind: 'openai-chat', baseUrl: `${mind.url}/v1`, model: 'llama' };
  const { status, printed } = await live(await enginesFile({ engines: { llama }, llm: 'llama' }));
  expect(status).toBe(1);
  expect(printed).toMatch(/× .*llm openai-chat, "llama" as a chat model > the chat model emits text deltas/);
}, 180_000);
