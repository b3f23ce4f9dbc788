import type { CallOptions } from '../engine.ts';
import type { EngineContext } from './context.ts';
import { openDeadline } from './deadline.ts';
import { brokenOff } from './http-faults.ts';
import type { PooledSocket, SocketPool } from './socket-pool.ts';

/** One request on a pooled connection, and how to read its answer. */
export interface SocketExchange<Message> {
  /** Messages to send, in order. */
  readonly request: readonly string[];
  /** Parses a message of the server; throws the fault that it reports. */
  readonly read: (message: string | Buffer) => Message;
  readonly isLast: (message: Message) => boolean;
}

/**
 * Sends a request and yields the messages of its answer, the last one included. The connection returns to the pool after
 * the last message, and is closed after anything else. A server that is silent for too long is an `ENGINE_TIMEOUT`.
 */
export async function* exchange<Message>(
  context: EngineContext,
  pool: SocketPool,
  { request, read, isLast }: SocketExchange<Message>,
  { signal }: CallOptions,
): AsyncGenerator<Message> {
  const { firstByteMs, betweenBytesMs } = context.timeouts;
  const deadline = openDeadline(context.name);
  const next = async (socket: PooledSocket): Promise<Message> => {
    const message = await socket.receive();
    deadline.clear();
    if (message === undefined) throw brokenOff(context);
    return read(message);
  };
  let message: Message | undefined;
  // Until the first message, a connection that was lost while it was idle is replaced.
  const begin = async (socket: PooledSocket): Promise<PooledSocket> => {
    try {
      deadline.expect(firstByteMs);
      for (const part of request) socket.send(part);
      message = await next(socket);
      return socket;
    } catch (cause) {
      socket.close();
      throw cause;
    } finally {
      deadline.clear();
    }
  };
  const socket = await pool.take(AbortSignal.any([signal, deadline.signal]), begin);
  let isOver = false;
  try {
    while (message !== undefined) {
      isOver = isLast(message);
      yield message;
      if (isOver) return;
      deadline.expect(betweenBytesMs);
      message = await next(socket);
    }
  } finally {
    deadline.clear();
    if (isOver) socket.giveBack();
    else socket.close();
  }
}
