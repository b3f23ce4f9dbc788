import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { ConfigError } from '../../config/config.ts';
import type { IceSettings } from './ice.ts';

/**
 * Allocates the UDP ports of a range, one for each call. The library would search for a free port itself, but two
 * concurrent calls would find the same one, and a port that is taken by the time it is bound crashes the process.
 */
export class UdpPorts {
  readonly #first: number;
  readonly #count: number;
  readonly #taken = new Set<number>();
  #next = 0;

  constructor([first, last]: readonly [first: number, last: number]) {
    this.#first = first;
    this.#count = last - first + 1;
  }

  /** Allocates a port that is free on `host`; undefined if there is none. */
  async take(host: string): Promise<number | undefined> {
    for (let tried = 0; tried < this.#count; tried += 1) {
      const port = this.#first + (this.#next % this.#count);
      this.#next += 1;
      if (this.#taken.has(port)) continue;
      this.#taken.add(port);
      if ((await bindingFault(host, port)) === undefined) return port;
      this.#taken.delete(port);
    }
    return undefined;
  }

  giveBack(port: number): void {
    this.#taken.delete(port);
  }
}

/** Throws a `ConfigError` if calls cannot bind their configured address. */
export async function checkBinding({ host }: Pick<IceSettings, 'host'>): Promise<void> {
  const fault = await bindingFault(host, 0);
  if (fault === undefined) return;
  throw new ConfigError(
    `WebRTC cannot use ${host} (${fault.message}). Set DRAMATIS_WEBRTC_HOST to an address of this machine.`,
    { cause: fault },
  );
}

async function bindingFault(host: string, port: number): Promise<Error | undefined> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    const isBound = once(socket, 'listening');
    socket.bind(port, host);
    await isBound;
    return undefined;
  } catch (fault) {
    return fault as Error;
  } finally {
    await new Promise<void>((resolve) => socket.close(resolve));
  }
}
