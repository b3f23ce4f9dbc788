import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Returns whether an address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  const address = withoutBrackets(host);
  const version = isIP(address);
  return version === 0 ? host.toLowerCase() === 'localhost' : loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Returns true if an address means all interfaces of this machine. */
export function isWildcard(host: string): boolean {
  return isIP(host) !== 0 && /^[0.:]+$/.test(host);
}

/** Removes the brackets around an IPv6 address. URLs have them; sockets do not. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
