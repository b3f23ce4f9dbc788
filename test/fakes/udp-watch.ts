import { createHook } from 'node:async_hooks';
import type { Socket } from 'node:dgram';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Notes the UDP sockets that this process opens, and how often it asks a name server. */
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
    /** Where the open ones are bound. */
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
