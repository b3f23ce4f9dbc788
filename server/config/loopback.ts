import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  const address = withoutBrackets(host);
  const version = isIP(address);
  return version === 0 ? host.toLowerCase() === 'localhost' : loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Whether an address stands for all of this machine's. */
export function isWildcard(host: string): boolean {
  return isIP(host) !== 0 && /^[0.:]+$/.test(host);
}

/** URLs write IPv6 addresses in brackets; sockets do not. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
