import { EngineError } from '../engine.ts';
import type { Upstream } from './http-faults.ts';
import { openSocket, type SocketRequest, type UpstreamSocket } from './socket.ts';

/** A reusable connection. */
export interface PooledSocket extends Pick<UpstreamSocket, 'send' | 'receive'> {
  /** Returns the connection to the pool, where it stays open until it has been idle for too long. */
  giveBack(): void;
  /** Closes the connection. */
  close(): void;
}

/** Connections to one address, kept open between uses: connecting costs three round trips. */
export interface SocketPool {
  /**
   * Returns a connection on which `begin` has succeeded: a free one, otherwise a new one. If a free one turns out to be
   * lost, the next is tried. `signal` cuts the connection at once until it is given back or closed, one of which must
   * always happen in the end.
   */
  take(signal: AbortSignal, begin: (socket: PooledSocket) => Promise<PooledSocket>): Promise<PooledSocket>;
  /** Closes the free connections. */
  close(): void;
}

/** Connects on demand, each time with a request of its own. Closes connections that have been idle for `idleMs`. */
export function openSocketPool(upstream: Upstream, request: () => SocketRequest, idleMs: number): SocketPool {
  const free = new FreeConnections(idleMs);
  return {
    async take(signal, begin) {
      signal.throwIfAborted();
      for (let known = free.take(); known !== undefined; known = free.take()) {
        const lent = new Lent(known, signal, free);
        try {
          return await begin(lent);
        } catch (cause) {
          signal.throwIfAborted();
          const isLost = cause instanceof EngineError && cause.code === 'ENGINE_UNAVAILABLE' && !lent.hasAnswered;
          if (!isLost) throw cause;
        }
      }
      const life = new AbortController();
      const leave = cutBy(signal, life);
      try {
        const socket = await openSocket(upstream, request(), { signal: life.signal });
        return await begin(new Lent({ socket, life }, signal, free));
      } finally {
        leave();
      }
    },
    close: () => free.close(),
  };
}

interface Connection {
  readonly socket: UpstreamSocket;
  /** Cuts the connection at once. */
  readonly life: AbortController;
}

/** A connection in use. */
class Lent implements PooledSocket {
  /** True if a message has come since the connection was taken. */
  hasAnswered = false;
  readonly #connection: Connection;
  readonly #free: FreeConnections;
  readonly #leave: () => void;

  constructor(connection: Connection, signal: AbortSignal, free: FreeConnections) {
    this.#connection = connection;
    this.#free = free;
    this.#leave = cutBy(signal, connection.life);
  }

  send(message: string | Uint8Array): void {
    this.#connection.socket.send(message);
  }

  async receive(limitMs?: number): Promise<string | Buffer | undefined> {
    const message = await this.#connection.socket.receive(limitMs);
    this.hasAnswered ||= message !== undefined;
    return message;
  }

  giveBack(): void {
    this.#leave();
    this.#free.put(this.#connection);
  }

  close(): void {
    this.#leave();
    this.#connection.socket.close();
  }
}

class FreeConnections {
  readonly #idleMs: number;
  /** Free connections, each with the timer that closes it. */
  readonly #timers = new Map<Connection, NodeJS.Timeout>();
  #isClosed = false;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  put(connection: Connection): void {
    if (this.#isClosed || !connection.socket.isOpen) return connection.socket.close();
    this.#timers.set(connection, setTimeout(() => this.#hangUp(connection), this.#idleMs).unref());
  }

  /** Takes the most recently used connection, which is the most likely to be alive. */
  take(): Connection | undefined {
    for (const connection of [...this.#timers.keys()].toReversed()) {
      clearTimeout(this.#timers.get(connection));
      this.#timers.delete(connection);
      if (connection.socket.isOpen) return connection;
      connection.socket.close();
    }
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#timers.keys()) this.#hangUp(connection);
  }

  #hangUp(connection: Connection): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
    connection.socket.close();
  }
}

/** Lets `signal` abort `life`; returns a function that undoes it. */
function cutBy(signal: AbortSignal, life: AbortController): () => void {
  const onAbort = (): void => life.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
