import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openContext } from '../../../voices/calls/context.ts';
import { streamWithTimeouts } from '../../../voices/calls/process-call.ts';
import { openProcess, type EngineProcess } from '../../../voices/runtime/process.ts';
import type { FakeEngineData } from '../../fakes/process-engine-worker.ts';

const { signal } = new AbortController();
const reason = new Error('the user spoke');
const opened: EngineProcess<string, string>[] = [];
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

function open(loads: FakeEngineData['loads'] = 'well', patienceMs = 30_000): EngineProcess<string, string> {
  const engine = openProcess<string, string>({
    name: 'fake',
    url: new URL('../../fakes/process-engine-worker.ts', import.meta.url),
    data: { loads } satisfies FakeEngineData,
    patienceMs,
  });
  opened.push(engine);
  return engine;
}

const say = (engine: EngineProcess<string, string>, request: string) =>
  Array.fromAsync(engine.stream(request, { signal }));

describe('engine in a child process', () => {
  it('the child process starts with the first request and answers several at a time, in order', async () => {
    const engine = open();
    expect(engine.processId).toBeUndefined();
    const [one, other] = await Promise.all([say(engine, 'good evening my friend'), say(engine, 'mind the step')]);
    expect([one, other]).toEqual([
      ['good', 'evening', 'my', 'friend'],
      ['mind', 'the', 'step'],
    ]);
    expect(engine.processId).toBeGreaterThan(0);
  });

  it('a crash in the middle of a call is reported without the process output, and the next call restarts it', async () => {
    const engine = open();
    await say(engine, 'hello');
    const first = engine.processId;
    const waiting = say(engine, 'forever');
    const failure = { code: 'ENGINE_UNAVAILABLE', retryable: true, detail: expect.stringContaining('SIGABRT') };
    await expect(say(engine, 'die')).rejects.toMatchObject(failure);
    await expect(waiting).rejects.toMatchObject(failure);
    await expect(waiting).rejects.not.toMatchObject({ detail: expect.stringContaining('secret') });
    expect(await say(engine, 'hello')).toEqual(['hello']);
    expect(engine.processId).not.toBe(first);
  });

  it.each([
    ['to death', 'SIGABRT'],
    ['to exit', 'exit status 255'],
  ] as const)(
    'the last output of the child process is reported when it crashes while loading %s',
    async (loads, how) => {
      const failure = await say(open(loads), 'hello').catch((cause: unknown) => cause);
      expect(failure).toMatchObject({ code: 'ENGINE_MISSING', detail: expect.stringContaining(how) });
      expect(failure).toMatchObject({ detail: expect.stringContaining('Protobuf parsing failed.') });
      expect(failure).toMatchObject({ detail: expect.stringContaining('do not match the kind in the settings') });
    },
  );

  it('a load failure is reported with its reason, and the next call tries again', async () => {
    await expect(say(open('not at all'), 'hello')).rejects.toMatchObject({
      code: 'ENGINE_MISSING',
      detail: expect.stringContaining('no such layer'),
    });
    const engine = open('once it is asked again');
    await expect(say(engine, 'hello')).rejects.toMatchObject({ code: 'ENGINE_MISSING' });
    expect(await say(engine, 'hello')).toEqual(['hello']);
  });

  it('the error code of a failed call crosses the process boundary', async () => {
    const engine = open();
    await expect(say(engine, 'refuse')).rejects.toMatchObject({ code: 'ENGINE_REFUSED', detail: 'not so' });
    await expect(say(engine, 'fail')).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY', detail: 'it is too hard' });
  });

  it('an abort throws its reason and reaches the engine', async () => {
    const engine = open();
    const controller = new AbortController();
    const hear = async (): Promise<void> => {
      for await (const _ of engine.stream('forever', { signal: controller.signal })) controller.abort(reason);
    };
    await expect(hear()).rejects.toBe(reason);
    expect(await engine.once('aborted', { signal })).toBe('1');
    await expect(engine.once('hello', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('a child process stuck in an abandoned call is killed and restarted', async () => {
    const engine = open('well', 1);
    await say(engine, 'hello');
    const first = engine.processId;
    await expect(engine.once('hang', { signal: AbortSignal.timeout(1) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await expect.poll(() => engine.processId).toBeUndefined();
    expect(await say(engine, 'hello')).toEqual(['hello']);
    expect(engine.processId).not.toBe(first);
  });

  it('the call timeouts apply once the child process is loaded', async () => {
    const engine = open();
    const { timeouts } = openContext('fake', { callPolicy: [{ timeouts: { firstByteMs: 500, betweenBytesMs: 500 } }] });
    const ask = (request: string): Promise<string[]> =>
      Array.fromAsync(streamWithTimeouts(engine, { load: 'hello', request }, { name: 'fake', timeouts, signal }));
    await expect(ask('hang')).rejects.toMatchObject({
      code: 'ENGINE_TIMEOUT',
      detail: expect.stringContaining('hangs'),
    });
    expect(await ask('mind the step')).toEqual(['mind', 'the', 'step']);
  });

  it('the engine is informed when the reader leaves', async () => {
    const engine = open();
    for await (const _ of engine.stream('forever', { signal })) break;
    expect(await engine.once('aborted', { signal })).toBe('1');
  });

  it.each(['SIGINT', 'SIGTERM'])('the child process ignores %s, which a stopping server receives too', async (name) => {
    const engine = open();
    await say(engine, 'hello');
    const { processId = 0 } = engine;
    process.kill(processId, name);
    expect(await say(engine, 'still here')).toEqual(['still', 'here']);
    expect(engine.processId).toBe(processId);
  });

  it('the child process ends with the server, however the server ends', async () => {
    const server = spawn(process.execPath, [fileURLToPath(new URL('../../fakes/process-owner.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [told] = (await once(server.stdout, 'data')) as [Buffer];
    const processId = Number(told.toString());
    expect(() => process.kill(processId, 0)).not.toThrow();
    server.kill('SIGKILL');
    const isGone = (): boolean => {
      try {
        process.kill(processId, 0);
        return false;
      } catch {
        return true;
      }
    };
    await expect.poll(isGone, { timeout: 10_000 }).toBe(true);
  });

  it('closing the engine ends its child process and its calls', async () => {
    const engine = open();
    const waiting = say(engine, 'forever');
    const { processId } = engine;
    await engine.close();
    await expect(waiting).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE', detail: 'it was closed' });
    expect(() => process.kill(processId ?? 0, 0)).toThrow('ESRCH');
    await expect(say(engine, 'hello')).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
