import type { WebSocket } from 'ws';
import { errorObject } from '../../session/contract/errors.ts';
import type { Carrier } from './resumable-stream.ts';
import { limits } from '../../protocol/limits.ts';
import { newId } from '../../realtime/new-id.ts';
import { systemClock, type Clock } from '../../session/contract/clock.ts';
import type { Problem } from '../../session/contract/events.ts';
import { frameBufferOf } from './frame-buffers.ts';

/** WebSocket close codes (RFC 6455 §7.4.1, 1013 of the IANA registry; 4000 and up are our own) and when we use them. */
const closeCodes = {
  ended: 1000,
  server_stopping: 1001,
  session_expired: 1001,
  policy: 1008,
  tryLater: 1013,
  replaced: 4001,
} as const;

/** Bytes that wait for a slow client before no more of its messages are read, and at which reading goes on. */
const pauseBytes = 512 * 1024;
const resumeBytes = 128 * 1024;
const pingMs = 25_000;

/**
 * A WebSocket as a carrier of frames. A client that falls behind is not read from until it has caught up; one that does
 * not read at all is let go. One frame, however large, may always be on its way.
 */
export function carrierOf(
  socket: Pick<
    WebSocket,
    | 'send'
    | 'close'
    | 'terminate'
    | 'pause'
    | 'resume'
    | 'ping'
    | 'on'
    | 'off'
    | 'bufferedAmount'
    | 'readyState'
    | 'OPEN'
  >,
): Carrier {
  let paused = false;
  let full = false;
  const catchUp = (): void => {
    if (socket.bufferedAmount > resumeBytes) return;
    if (full) {
      full = false;
      carrier.onRoom?.();
    }
    if (!paused || socket.bufferedAmount > resumeBytes) return;
    paused = false;
    socket.resume();
  };
  const carrier: Carrier = {
    send(frame) {
      if (socket.readyState !== socket.OPEN) return true;
      if (socket.bufferedAmount > limits.unsentBytes) {
        full = true;
        return false;
      }
      const buffer = typeof frame === 'string' ? frameBufferOf(frame) : undefined;
      if (buffer === undefined) socket.send(frame, catchUp);
      else {
        socket.send(buffer.bytes, { binary: false }, () => {
          buffer.release();
          catchUp();
        });
      }
      if (!paused && socket.bufferedAmount > pauseBytes) {
        paused = true;
        socket.pause();
      }
      return true;
    },
    probe: proberOf(socket),
    close(reason) {
      // A client that does not read would not read a close frame either.
      if (reason === 'client_too_slow') return socket.terminate();
      // The answer to the close frame has to be read.
      if (paused) socket.resume();
      socket.close(closeCodes[reason], reason);
    },
  };
  return carrier;
}

/** Asks the other side with a ping of its own name. Only the last question is answered. */
function proberOf(
  socket: Pick<WebSocket, 'ping' | 'on' | 'off' | 'readyState' | 'OPEN'>,
): (answered: () => void) => void {
  let asked = 0;
  let onPong: ((data: Buffer) => void) | undefined;
  return (answered) => {
    if (socket.readyState !== socket.OPEN) return;
    asked += 1;
    const name = `probe ${asked}`;
    if (onPong !== undefined) socket.off('pong', onPong);
    onPong = (data) => void (data.toString() === name && answered());
    socket.on('pong', onPong);
    socket.ping(name);
  };
}

/** Ends a connection whose other side has silently gone; until it is closed. */
export function keepAlive(socket: WebSocket, clock: Clock = systemClock): void {
  let answered = true;
  const live = (): void => void (answered = true);
  // Behind much sound that a client has sent, its pong comes late.
  socket.on('pong', live).on('message', live);
  const rest = clock.every(pingMs, () => {
    if (!answered) return socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  });
  socket.once('close', rest);
}

/** Says why nothing can come of a connection, and closes it. */
export function refuse(socket: WebSocket, problem: Problem, code: 'policy' | 'tryLater' = 'policy'): void {
  if (socket.readyState === socket.OPEN) {
    socket.send(JSON.stringify({ type: 'error', event_id: newId('event'), error: errorObject(problem) }));
  }
  socket.close(closeCodes[code], problem.code);
}
