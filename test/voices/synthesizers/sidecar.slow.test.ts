import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { durationMs } from '../../../voices/audio.ts';
import type { CallPolicy } from '../../../voices/calls/call-policy.ts';
import { adapter } from '../../../voices/synthesizers/sidecar.ts';
import { synthesizerConformance } from '../../conformance/synthesizer.ts';
import { openSidecarServer } from '../../fakes/servers/sidecar-server.ts';
import { clipForTests, openEngine, opened, say } from '../../rigs/voice-engine-rig.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const { voice } = await clipForTests();
const folder = path.resolve(import.meta.dirname, '../../../voices/synthesizers/sidecar');
const { signal } = new AbortController();

for (const streams of [true, false]) {
  synthesizerConformance({
    title: `sidecar (${streams ? 'as it is made' : 'whole'})`,
    voice,
    behindServer: true,
    open: async (care?: CallPolicy) =>
      opened(adapter, { streams }, { server: await openSidecarServer(), route: 'POST /v1/audio/speech', care }),
    atRate: async (sampleRate) =>
      opened(adapter, { streams }, { server: await openSidecarServer({ sampleRate }), route: 'POST /v1/audio/speech' }),
  });
}

describe('sidecar', () => {
  it('a sidecar gets only the requests of its contract', async () => {
    const contract = JSON.parse(readFileSync(path.join(folder, 'openapi.json'), 'utf8'));
    const { properties, required } = contract.components.schemas.Speech;
    await using server = await openSidecarServer();
    for (const streams of [true, false]) {
      const engine = openEngine(adapter, { baseUrl: server.url, streams, model: 'small', defaultVoice: 'martha' });
      await say(engine, voice, { language: 'en', speed: 1.2 });
      await say(engine, { kind: 'preset', id: 'martha' });
    }
    expect(server.requests).toHaveLength(4);
    for (const request of server.requests) {
      expect(contract.paths).toHaveProperty([request.path, 'post']);
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(request.json())));
      expect(Object.keys(request.json())).toEqual(expect.arrayContaining(required));
    }
    expect(server.requests[0]?.json()['ref_audio']).toMatch(/^data:audio\/wav;base64,UklGR/);
  });

  it('a sidecar states its own sample rate', async () => {
    await using server = await openSidecarServer();
    const chunks = await say(openEngine(adapter, { baseUrl: server.url }), voice);
    expect(chunks.reduce((ms, { frame }) => ms + durationMs(frame), 0)).toBeCloseTo(240, 0);
  });

  it('doctor checks the health route of a sidecar', async () => {
    await using server = await openSidecarServer();
    const says = await openEngine(adapter, { baseUrl: server.url }).check?.({ signal });
    expect(says).toMatch(/ runs firered-tts, which speaks en, zh$/);
  });

  it('a sidecar that is still loading its model is reported as such', async () => {
    await using server = await openSidecarServer({ isLoading: true });
    const check = openEngine(adapter, { baseUrl: server.url }).check?.({ signal });
    await expect(check).rejects.toMatchObject({
      code: 'ENGINE_UNAVAILABLE',
      detail: expect.stringContaining('still loading'),
    });
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython)(`example sidecar${hasPython ? '' : ' (there is no python3 here)'}`, () => {
  async function startSidecar() {
    const child = spawn('python3', [path.join(folder, 'sidecar.py'), '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [port] = await once(createInterface(child.stdout), 'line');
    return {
      engine: openEngine(adapter, { baseUrl: `http://127.0.0.1:${port}` }),
      async [Symbol.asyncDispose]() {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  it('the example sidecar meets its contract: it is healthy, speaks with a clip, and again after an interruption', async () => {
    await using sidecar = await startSidecar();
    const { engine } = sidecar;
    expect(await engine.check?.({ signal })).toMatch(/ runs tone, which speaks en, zh$/);
    const lengthOf = async (text: string): Promise<number> =>
      (await say(engine, voice, { text })).reduce((ms, { frame }) => ms + durationMs(frame), 0);
    expect(await lengthOf('Mind the step.')).toBeCloseTo(180, 0);
    const interrupted = new AbortController();
    const speaking = (async () => {
      const phrases = phrasesOf('One. ', 'Two. ', 'Three.');
      for await (const _ of engine.speak(phrases, { signal: interrupted.signal, voice })) interrupted.abort('enough');
    })();
    await expect(speaking).rejects.toBe('enough');
    expect(await lengthOf('And the door.')).toBeCloseTo(180, 0);
  });

  it('the example sidecar has at most sixty lines', () => {
    expect(readFileSync(path.join(folder, 'sidecar.py'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  });
});
