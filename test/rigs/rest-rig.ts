import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI, { APIError } from 'openai';
import type { Engines } from '../../server/engines/engines.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { serve } from './serve-rig.ts';

/** A server, with a stock client. */
export async function client(engines: Engines = fakeEngines(), flags: Record<string, string> = {}) {
  const server = await serve({ engines, flags });
  return { ...server, openai: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 }) };
}

/** Status, code and param of the error that a stock client gets. */
export async function failureOf(call: Promise<unknown>): Promise<{ status: unknown; code: unknown; param: unknown }> {
  const fault = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(fault instanceof APIError)) throw new Error(`no API error: ${String(fault)}`);
  return { status: fault.status as unknown, code: fault.code, param: fault.param };
}

/** Sends a raw request, waits for `begun`, hangs up, and waits for `ended`. */
export async function hangUp(
  port: number,
  path: string,
  body: string,
  begun: Promise<unknown>,
  ended: Promise<unknown>,
) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.write(`${head}\r\n\r\n${body}`);
  await begun;
  socket.destroy();
  await ended;
}
