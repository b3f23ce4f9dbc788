import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { socketTransport } from '../../../../server/connections/socket-transport.ts';
import { ResumableStream } from '../../../../server/connections/resumable-stream.ts';
import { Silence } from '../../../../server/session/input/silence.ts';
import { ManualClock } from '../../../fakes/clock.ts';

/** The silence synthesized for a client that sends nothing, polled every 100 ms; the test answers the probes. */
function listen(isProbed = true) {
  const clock = new ManualClock();
  const asked: (() => void)[] = [];
  const silence = new Silence(clock, isProbed ? (answered) => void asked.push(answered) : undefined);
  silence.begin();
  const during = async (ms: number): Promise<number> => {
    let madeUpMs = 0;
    for (let passedMs = 0; passedMs < ms; passedMs += 100) {
      await clock.advance(100);
      madeUpMs += silence.take();
    }
    return madeUpMs;
  };
  return { clock, silence, asked, during, answer: () => asked.splice(0).forEach((answered) => answered()) };
}

describe('Silence', () => {
  it('synthesizes silence after half a second while the connection answers', async () => {
    const { answer, during } = listen();
    expect(await during(400)).toBe(0);
    answer();
    expect(await during(600)).toBe(500);
    // The second probe is unanswered: nothing is known from a second after the first answer on.
    expect(await during(2_000)).toBe(400);
    answer();
    expect(await during(100)).toBe(1_700);
  });

  it('synthesizes no silence while the connection is stuck', async () => {
    const { answer, during, silence } = listen();
    expect(await during(5_000)).toBe(0);
    silence.begin();
    answer();
    expect(await during(3_000)).toBe(0);
    answer();
    expect(await during(100)).toBe(2_600);
  });

  it('caps the silence it synthesizes at once and skips what was not missed', async () => {
    const { answer, clock, during, silence } = listen(false);
    await clock.advance(60_000);
    silence.skip();
    expect(await during(300)).toBe(300);
    answer();
    await clock.advance(60_000);
    expect(silence.take()).toBe(5_000);
  });

  it('probes the connection once at a time', async () => {
    const { asked, during } = listen();
    await during(3_000);
    expect(asked).toHaveLength(1);
  });

  it('synthesizes silence without a probe if the connection cannot be stuck', async () => {
    const { during } = listen(false);
    expect(await during(600)).toBe(100);
  });
});

describe('probe', () => {
  it('probes a WebSocket with a ping', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    const accepted = once(server, 'connection');
    await once(server, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket] = (await accepted) as [WebSocket];
    const link = new ResumableStream({ binary: false, resumable: false, keptBytes: 0 });
    let isAnswered = false;
    link.probe(() => (isAnswered = true));
    expect(isAnswered).toBe(false);
    link.attach(socketTransport(socket));
    // A pong to another ping does not answer ours.
    socket.ping('other');
    await once(socket, 'pong');
    await new Promise<void>((resolve) => link.probe(resolve));
    client.close();
    await once(socket, 'close');
    server.close();
  });
});
