import { createHook } from 'node:async_hooks';
import type { Socket } from 'node:dgram';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Tracks the UDP sockets that this process opens, and counts its DNS lookups. */
export function watchUdp() {
  const sockets: Socket[] = [];
  const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('udp.socket', onSocket);
  let lookups = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'GETADDRINFOREQWRAP') lookups += 1;
    },
  }).enable();
  return {
    /** Addresses of the open sockets. */
    bound: () =>
      sockets.flatMap((socket) => {
        try {
          const { address, port } = socket.address();
          return [{ address, port }];
        } catch {
          return []; // Closed.
        }
      }),
    lookups: () => lookups,
    [Symbol.dispose]() {
      unsubscribe('udp.socket', onSocket);
      hook.disable();
    },
  };
}
