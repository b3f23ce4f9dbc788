import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { serve } from '../../rigs/serve-rig.ts';

afterEach(() => void vi.useRealTimers());

/** Engines whose replies end when they are told to. */
function patient(): Engines & { readonly finish: () => void } {
  const engines = fakeEngines();
  const gate = Promise.withResolvers<void>();
  return {
    ...engines,
    finish: () => gate.resolve(),
    responderFor: (character) =>
      cascade({
        recognizer: engines.recognizer,
        ...engines.voiceOf(character),
        agent: {
          character,
          async *reply(_history, { signal }) {
            yield { type: 'reply-source', name: 'patient' };
            yield { type: 'text-delta', text: 'One two three. ' };
            const aborted = new Promise<never>((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
            });
            await Promise.race([gate.promise, aborted]);
            yield { type: 'text-delta', text: 'Four.' };
          },
        },
      }),
  };
}

/** A server with one client that is being answered and one that is not. */
async function serveTwo() {
  const engines = patient();
  const server = await serve({ engines });
  const [idle, answered] = [server.call(), server.call()];
  await Promise.all([idle.until('session.created'), answered.until('session.created')]);
  answered.send({ type: 'response.create', response: { output_modalities: ['text'] } });
  await answered.until('response.created');
  return { ...server, engines, idle, answered };
}

describe('drain', () => {
  it('reports itself as draining and refuses new sessions and requests while it stops', async () => {
    const { ask, call, sessions, answered } = await serveTwo();
    void sessions.drain(60_000);
    expect(await ask('/healthz')).toMatchObject({ status: 503, body: { status: 'draining' } });
    expect(await ask('/livez')).toMatchObject({ status: 200, body: { status: 'alive' } });
    expect(await call().refused).toEqual({ status: 503, code: 'server_draining', retryAfter: '5' });
    const request = await ask('/v1/chat/completions', { body: { messages: [{ role: 'user', content: 'Hi' }] } });
    expect([request.status, request.body.error.code]).toEqual([503, 'server_draining']);
    answered.socket.terminate();
  });

  it('leaves its sessions alone while the load balancer learns that it stops, then ends them', async () => {
    const { ask, sessions, call } = await serve();
    const client = call();
    await client.until('session.created');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const drained = sessions.drain(60_000, { noticeMs: 2_000, apartMs: 20 });
    expect((await ask('/healthz')).status).toBe(503);
    await vi.advanceTimersByTimeAsync(1_990);
    expect(sessions.active).toBe(1);
    await vi.advanceTimersByTimeAsync(10);
    await client.closed;
    await vi.advanceTimersByTimeAsync(2_000);
    await drained;
    expect(sessions.active).toBe(0);
  });

  it('finishes a running HTTP request before it stops', async () => {
    const engines = patient();
    const { ask, sessions } = await serve({ engines });
    const asking = ask('/v1/chat/completions', { body: { messages: [{ role: 'user', content: 'Hi' }] } });
    await expect.poll(() => sessions.busy).toBe(true);
    let isDrained = false;
    const drained = sessions.drain(60_000).then(() => (isDrained = true));
    expect((await ask('/healthz')).status).toBe(503);
    expect(isDrained).toBe(false);
    engines.finish();
    expect((await asking).status).toBe(200);
    await drained;
  });

  it('disconnects a client that does not answer the close frame', async () => {
    const { sessions, call } = await serve();
    const deaf = call();
    await deaf.until('session.created');
    deaf.socket.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const drained = sessions.drain(0);
    await vi.advanceTimersByTimeAsync(10);
    await vi.advanceTimersByTimeAsync(2_000);
    await drained;
    deaf.socket.resume();
    await deaf.closed;
    expect(sessions.active).toBe(0);
  });

  it('refuses an upgrade that comes while the server closes, and ends its socket: closing waited for the client', async () => {
    const { app, port, call } = await serve();
    const deaf = call();
    await deaf.until('session.created');
    deaf.socket.pause();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // It waits for the client that does not answer.
    const closed = app.close();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    await once(socket, 'connect');
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(
      `GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    let answer = '';
    socket.on('data', (text: string) => (answer += text));
    await once(socket, 'end');
    expect(answer).toContain('503 Service Unavailable');
    socket.end();
    await vi.advanceTimersByTimeAsync(2_000);
    deaf.socket.resume();
    await closed;
  });
});
