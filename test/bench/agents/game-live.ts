import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { startServer } from '../../../server/app/serve.ts';
import { readConfig } from '../../../server/config/config.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'game';
const changes = 300;
const cuts = 40;
const asks = ['Tell me a story.', 'What was your childhood like?', 'Tell me about your best friend.', 'Who are you?'];

type Wire = Readonly<Record<string, unknown>> & { readonly type: string };

/** The delays of a game at a server with the embedded engines, on this machine and in real time. */
export async function* liveRows(): AsyncIterable<BenchRow> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'dramatis-game-'));
  const server = await startServer(
    readConfig({ flags: { port: '0', logLevel: 'error', dataDir, warm: true }, environment: {} }),
  );
  const game = await openGame(`${server.url.replace('http', 'ws')}/v1/realtime?model=abraham-lincoln`);
  try {
    yield summarize(bench, 'world → world_taken, live', 'ms', await takenMs(game));
    yield summarize(bench, 'respond: interrupt → the end of the reply, live', 'ms', await silentMs(game));
  } finally {
    game.close();
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Arrival {
  readonly event: Wire;
  readonly atMs: number;
}

interface Game {
  readonly send: (event: Wire) => void;
  /** Returns the first event of a type after those that were returned before. */
  readonly next: (type: string) => Promise<Arrival>;
  readonly close: () => void;
}

async function openGame(url: string): Promise<Game> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const arrived: Arrival[] = [];
  let read = 0;
  let wake = (): void => undefined;
  socket.on('message', (data: Buffer) => {
    arrived.push({ event: JSON.parse(data.toString()) as Wire, atMs: performance.now() });
    wake();
  });
  const next: Game['next'] = async (type) => {
    for (;;) {
      const found = arrived.slice(read).findIndex(({ event }) => event.type === type);
      if (found >= 0) {
        read += found + 1;
        return arrived[read - 1] as Arrival;
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  await once(socket, 'open');
  await next('session.created');
  return { send: (event) => socket.send(JSON.stringify(event)), next, close: () => socket.close() };
}

async function takenMs({ send, next }: Game): Promise<number[]> {
  const delaysMs: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const sentMs = performance.now();
    send({ type: 'x_dramatis.world', id: `w${change}`, set: { hour: `${change}` }, objects: [thing(change % 50)] });
    delaysMs.push((await next('x_dramatis.world_taken')).atMs - sentMs);
    await pause(20);
  }
  return delaysMs;
}

function thing(index: number): object {
  return { id: `thing-${index}`, name: `lamp ${index}`, about: 'unlit', can: ['light', 'take'] };
}

/** Each reply is broken off at another place. */
async function silentMs({ send, next }: Game): Promise<number[]> {
  const delaysMs: number[] = [];
  for (let cut = 0; delaysMs.length < cuts && cut < 3 * cuts; cut += 1) {
    const text = asks[cut % asks.length] ?? '';
    const content = [{ type: 'input_text', text }];
    send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    send({ type: 'response.create' });
    await next('response.output_audio.delta');
    await pause(150 + 37 * (cut % 20));
    const sentMs = performance.now();
    send({ type: 'x_dramatis.world', id: `i${cut}`, events: [{ text: 'An alarm.' }], respond: 'interrupt' });
    const { event, atMs } = await next('response.done');
    if (reasonOf(event) === 'event') delaysMs.push(atMs - sentMs);
    // What the character says of the event.
    await next('response.done');
  }
  return delaysMs;
}

function reasonOf({ response }: Wire): unknown {
  return (response as { readonly status_details?: { readonly reason?: string } | null }).status_details?.reason;
}
