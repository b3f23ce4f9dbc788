import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback, isWildcard, withoutBrackets } from './loopback.ts';

const address = z
  .string()
  .transform(withoutBrackets)
  .pipe(z.union([z.ipv4(), z.ipv6()], 'must be an IP address'));
const badPorts = 'must be a range from 1024 to 65535, such as 20000-20099';
const port = z.int(badPorts).min(1_024, badPorts).max(65_535, badPorts);
/** `20000-20099`, or both ends as a list. */
const ports = z.preprocess(
  (value) => (typeof value === 'string' ? value.split('-').map((end) => Number(end.trim() || Number.NaN)) : value),
  z
    .tuple([port, port], badPorts)
    .readonly()
    .refine(([first, last]) => first < last, badPorts),
);
const host = /(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?/i.source;
const url = (form: string, example: string): z.ZodString =>
  z.string().regex(new RegExp(`^${form}$`, 'i'), `must look like ${example}`);

/** Settings of WebRTC calls: types and ranges. */
export const callFields = {
  webrtcHost: address.optional(),
  webrtcAddress: address.optional(),
  webrtcPorts: ports.optional(),
  stunUrl: url(`stun:${host}`, 'stun:stun.example.com:3478').optional(),
  turnUrl: url(`turns?:${host}(?:\\?transport=(?:udp|tcp))?`, 'turn:turn.example.com:3478').optional(),
  turnUser: z.string().min(1).optional(),
  turnCredential: z.string().min(1).optional(),
};

/** Environment variables and help texts of these settings. */
export const callFacts = {
  webrtcHost: { env: 'DRAMATIS_WEBRTC_HOST', help: 'address that WebRTC calls use (UDP); by default HOST' },
  webrtcAddress: {
    env: 'DRAMATIS_WEBRTC_ADDRESS',
    help: 'address that WebRTC callers are told instead, where a NAT maps it to this machine',
  },
  webrtcPorts: { env: 'DRAMATIS_WEBRTC_PORTS', help: 'UDP ports of WebRTC calls, such as 20000-20099; one a call' },
  stunUrl: { env: 'DRAMATIS_STUN_URL', help: 'STUN server that tells our public address, such as stun:HOST:3478' },
  turnUrl: { env: 'DRAMATIS_TURN_URL', help: 'TURN server that WebRTC calls go through, such as turn:HOST:3478' },
  turnUser: { env: 'DRAMATIS_TURN_USER', help: 'our name there' },
  turnCredential: { env: 'DRAMATIS_TURN_CREDENTIAL', help: 'our password there', secret: true },
} as const;

interface CallSettings {
  readonly host: string;
  readonly webrtcHost?: string | undefined;
  readonly webrtcAddress?: string | undefined;
  readonly webrtcPorts?: readonly [first: number, last: number] | undefined;
  readonly stunUrl?: string | undefined;
  readonly turnUrl?: string | undefined;
  readonly turnUser?: string | undefined;
  readonly turnCredential?: string | undefined;
}

/** Describes a contradiction between these settings and how to fix it. Undefined if there is none. */
export function callProblemOf(config: CallSettings): string | undefined {
  const { webrtcHost, webrtcAddress, stunUrl, turnUrl, turnUser, turnCredential } = config;
  if (turnUrl !== undefined && (turnUser === undefined || turnCredential === undefined)) {
    return 'DRAMATIS_TURN_URL is set without DRAMATIS_TURN_USER and DRAMATIS_TURN_CREDENTIAL: a relay wants both.';
  }
  const bound = webrtcHost ?? config.host;
  const asked =
    webrtcAddress !== undefined && !isLoopback(webrtcAddress)
      ? 'DRAMATIS_WEBRTC_ADDRESS'
      : stunUrl !== undefined
        ? 'DRAMATIS_STUN_URL'
        : undefined;
  if (asked !== undefined && turnUrl === undefined && isLoopback(bound)) {
    return (
      `${asked} is for callers from elsewhere, but calls use ${bound}, where nobody else comes in: ` +
      'set DRAMATIS_WEBRTC_HOST to 0.0.0.0, or to the address of a network interface.'
    );
  }
  if (config.webrtcPorts !== undefined && webrtcAddress === undefined && isWildcard(bound) && isLoopback(config.host)) {
    return (
      'DRAMATIS_WEBRTC_PORTS is set, so calls announce one address, and HTTP on loopback does not tell which: ' +
      'set DRAMATIS_WEBRTC_ADDRESS, or DRAMATIS_WEBRTC_HOST to the address of a network interface.'
    );
  }
  // Only `::` accepts both IPv4 and IPv6.
  const takesBoth = isIP(bound) !== 4 && isWildcard(bound);
  if (webrtcAddress !== undefined && isIP(bound) !== 0 && !takesBoth && isIP(webrtcAddress) !== isIP(bound)) {
    return `DRAMATIS_WEBRTC_ADDRESS is ${webrtcAddress}, but calls use ${bound}: one is IPv4, the other IPv6.`;
  }
  return undefined;
}
