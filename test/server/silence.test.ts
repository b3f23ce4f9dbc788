import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { carrierOf } from '../../server/http/socket-carrier.ts';
import { Link } from '../../server/link/link.ts';
import { Silence } from '../../server/session/silence.ts';
import { ManualClock } from '../fakes/clock.ts';

/** What a session takes for silence, asked every 100 ms; the line answers when the test does. */
function listen(isProbed = true) {
  const clock = new ManualClock();
  const asked: (() => void)[] = [];
  const silence = new Silence(clock, isProbed ? (answered) => void asked.push(answered) : undefined);
  silence.begin();
  const during = async (ms: number): Promise<boolean[]> => {
    const was: boolean[] = [];
    for (let passedMs = 0; passedMs < ms; passedMs += 100) {
      await clock.advance(100);
      was.push(silence.isNow());
    }
    return was;
  };
  return { silence, asked, during, answer: () => asked.splice(0).forEach((answered) => answered()) };
}

describe('what a client does not send', () => {
  it('is silence after half a second where the line answers, and for as long as it does', async () => {
    const { answer, during } = listen();
    expect(await during(400)).not.toContain(true);
    answer();
    expect(await during(700)).toEqual([true, true, true, true, true, true, true]);
    // It was asked again, and has not answered.
    expect((await during(600)).at(-1)).toBe(false);
    answer();
    expect(await during(100)).toEqual([true]);
  });

  it('is no silence while the line is stuck, nor by an answer from before', async () => {
    const { answer, during, silence } = listen();
    expect(await during(5_000)).not.toContain(true);
    silence.begin();
    answer();
    expect(await during(5_000)).not.toContain(true);
    answer();
    expect(await during(100)).toEqual([true]);
  });

  it('is asked for one answer at a time', async () => {
    const { asked, during } = listen();
    await during(3_000);
    expect(asked).toHaveLength(1);
  });

  it('is silence without a question where nothing can be stuck', async () => {
    const { during } = listen(false);
    expect((await during(500)).at(-1)).toBe(true);
  });
});

describe('a line', () => {
  it('is asked by a ping, which every WebSocket client answers by itself', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    const accepted = once(server, 'connection');
    await once(server, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket] = (await accepted) as [WebSocket];
    const link = new Link({ binary: false, resumable: false, keptBytes: 0, newEventId: () => 'e' });
    let isAnswered = false;
    link.probe(() => (isAnswered = true));
    expect(isAnswered).toBe(false);
    link.attach(carrierOf(socket));
    // An answer to somebody else's ping is none to ours.
    socket.ping('other');
    await once(socket, 'pong');
    await new Promise<void>((resolve) => link.probe(resolve));
    client.close();
    await once(socket, 'close');
    server.close();
  });

  it('that loses what is late needs no answer', () => {
    const link = new Link({ binary: false, resumable: false, keptBytes: 0, newEventId: () => 'e' });
    link.attach({ send: () => true, close: () => undefined });
    let isAnswered = false;
    link.probe(() => (isAnswered = true));
    expect(isAnswered).toBe(true);
  });
});
