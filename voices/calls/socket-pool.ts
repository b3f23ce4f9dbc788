import { EngineError } from '../engine.ts';
import type { Upstream } from './http-faults.ts';
import { openSocket, type SocketRequest, type UpstreamSocket } from './socket.ts';

/** A connection that can serve again. */
export interface PooledSocket extends Pick<UpstreamSocket, 'send' | 'receive'> {
  /** For others, until it has been free for too long. */
  giveBack(): void;
  /** Says goodbye. */
  close(): void;
}

/** Connections to one address, kept between uses: to connect costs three journeys to the server and back. */
export interface SocketPool {
  /**
   * A connection on which `begin` has succeeded: a free one, or else a new one. A free one that turns out to be lost is no
   * failure. `signal` cuts the connection at once until it is given back or closed. To be given back or closed in the end in any case.
   */
  take(signal: AbortSignal, begin: (socket: PooledSocket) => Promise<PooledSocket>): Promise<PooledSocket>;
  /** Hangs up what is free. */
  close(): void;
}

interface Free {
  readonly socket: UpstreamSocket;
  /** Cuts it at once. */
  readonly life: AbortController;
  readonly timer: NodeJS.Timeout;
}

/** Connects when asked. What has been free for `idleMs` is hung up. */
export function openSocketPool(upstream: Upstream, request: SocketRequest, idleMs: number): SocketPool {
  const free: Free[] = [];
  let isClosed = false;

  const wrap = (socket: UpstreamSocket, life: AbortController, leave: () => void): PooledSocket => ({
    send: (message) => socket.send(message),
    receive: (limitMs) => socket.receive(limitMs),
    giveBack() {
      leave();
      if (isClosed || !socket.isOpen) return socket.close();
      const timer = setTimeout(() => {
        free.splice(free.indexOf(entry), 1);
        socket.close();
      }, idleMs);
      const entry = { socket, life, timer: timer.unref() };
      free.push(entry);
    },
    close() {
      leave();
      socket.close();
    },
  });

  const takeFree = (): Free | undefined => {
    // The one that was used last is the likeliest to live.
    for (let last = free.pop(); last !== undefined; last = free.pop()) {
      clearTimeout(last.timer);
      if (last.socket.isOpen) return last;
      last.socket.close();
    }
    return undefined;
  };

  return {
    async take(signal, begin) {
      signal.throwIfAborted();
      for (let known = takeFree(); known !== undefined; known = takeFree()) {
        try {
          return await begin(wrap(known.socket, known.life, cutBy(signal, known.life)));
        } catch (cause) {
          signal.throwIfAborted();
          if (!(cause instanceof EngineError) || cause.code !== 'ENGINE_UNAVAILABLE' || known.socket.isOpen)
            throw cause;
        }
      }
      const life = new AbortController();
      const leave = cutBy(signal, life);
      const socket = await openSocket(upstream, request, { signal: life.signal }).catch((cause: unknown) => {
        leave();
        throw cause;
      });
      return begin(wrap(socket, life, leave));
    },
    close() {
      isClosed = true;
      for (const { socket, timer } of free.splice(0)) {
        clearTimeout(timer);
        socket.close();
      }
    },
  };
}

/** Lets one signal end a life for a while; returns what ends that. */
function cutBy(signal: AbortSignal, life: AbortController): () => void {
  const onAbort = (): void => life.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}
