import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CallCount, cut, type Fault } from './faults.ts';
import type { EngineServer, SeenRequest } from './engine-server.ts';
import { tone } from '../vad.ts';

/** Deviations of the server from its default behaviour. */
export interface F5SocketOptions {
  /** Replaces the speech and its end marker. Each buffer is a separate write. */
  readonly sends?: readonly Buffer[];
  /** True: keeps waiting for another text, whatever its client does. */
  readonly neverHangsUp?: boolean;
}

export const f5Route = 'TCP /';

/** Audio for a text, as sent on the wire: 60 ms of a tone for each word, 32-bit floats, without the end marker. */
export function floatsOf(text: string): Buffer {
  return Buffer.from(tone(60 * text.split(/\s+/).length + 60, 24_000).buffer);
}

/** F5-TTS's socket server: the bytes of one read are one text; one client at a time; floats, then the letters `END`. */
export async function openF5SocketServer(options: F5SocketOptions = {}): Promise<EngineServer> {
  const calls = new CallCount();
  const sockets = new Set<Socket>();
  let turn = Promise.resolve();
  const serve = async (socket: Socket): Promise<void> => {
    socket.resume();
    const closed = new Promise<undefined>((resolve) => socket.once('close', () => resolve(undefined)));
    const bytes = await Promise.race([new Promise<Buffer>((resolve) => socket.once('data', resolve)), closed]);
    if (bytes === undefined) return;
    const text = bytes.subarray(0, 1_024).toString('utf8').trim();
    calls.requests.push(asSeen(bytes));
    const end = calls.begin();
    const isComplete = await answer(socket, text, calls.faultFor(f5Route), options);
    await closed;
    end(isComplete);
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    calls.connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    turn = turn.then(() => serve(socket)).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(calls, {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

/** Behaviour instead of speech. Any failure ends the connection without an error message. */
const endings: Readonly<Record<string, (socket: Socket) => unknown>> = {
  reset: (socket) => socket.resetAndDestroy(),
  status: (socket) => socket.end(),
  empty: (socket) => socket.end(),
  garbage: (socket) => socket.end(Buffer.alloc(9_999, 'not a float')),
  page: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n<!doctype html>'),
};

/** Sends the speech, or what the fault replaces it with. Resolves to whether it was complete. */
async function answer(
  socket: Socket,
  text: string,
  fault: Fault | undefined,
  { sends, neverHangsUp = false }: F5SocketOptions,
): Promise<boolean> {
  if (fault?.kind === 'hang') return false;
  if (fault?.kind === 'late') await pause(fault.ms);
  const ending = endings[fault?.kind ?? ''];
  if (ending !== undefined) {
    ending(socket);
    return true;
  }
  const floats = floatsOf(text);
  if (fault !== undefined && 'after' in fault) {
    if (fault.after > 0) socket.write(floats.subarray(0, Math.floor(floats.length * fault.after)));
    await pause(5);
    if (fault.kind === 'cut') socket.resetAndDestroy();
    if (fault.kind === 'half-close') socket.end();
    return fault.kind !== 'silence';
  }
  const sizes = fault?.kind === 'pieces' ? fault.sizes : [8_192];
  for (const piece of sends ?? cut(Buffer.concat([floats, Buffer.from('END')]), sizes)) {
    if (socket.destroyed) return false;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!neverHangsUp) socket.end();
  return true;
}

function asSeen(bytes: Buffer): SeenRequest {
  const json = (): Record<string, unknown> => ({});
  const form = (): Promise<FormData> => Promise.resolve(new FormData());
  return { method: 'TCP', path: '/', query: new URLSearchParams(), headers: {}, bytes, json, form };
}
