import { isIP, isIPv6 } from 'node:net';
import type { RTCPeerConnectionConfig } from 'werift';
import type { Config } from '../../config/config.ts';
import { isWildcard } from '../../config/loopback.ts';

/** The addresses and ports at which a call can be reached. */
export interface IceSettings {
  /** Options for the WebRTC library, without ports. */
  readonly settings: RTCPeerConnectionConfig;
  /** Range to take the call's UDP port from. */
  readonly ports: readonly [first: number, last: number] | undefined;
  /** The address that the call's socket is bound to. */
  readonly host: string;
  /** True if the audio goes through a TURN relay. */
  readonly isRelayed: boolean;
}

type Settings = Pick<
  Config,
  'host' | 'webrtcHost' | 'webrtcAddress' | 'webrtcPorts' | 'stunUrl' | 'turnUrl' | 'turnUser' | 'turnCredential'
>;

/**
 * Works out the addresses to announce to a client: by default those that HTTP is served on. `reached` is the address
 * that the client has connected to, which may be loopback. With a relay, no address of ours is announced.
 */
export function iceSettingsFor(config: Settings, reached: string | undefined): IceSettings {
  const { stunUrl, turnUrl, turnUser = '', turnCredential = '' } = config;
  if (turnUrl !== undefined) {
    const iceServers = [{ urls: turnUrl, username: turnUser, credential: turnCredential }];
    const host = specific(config.webrtcHost);
    const settings = { iceServers, iceTransportPolicy: 'relay', ...binding(host) } as const;
    return { settings, host: host ?? '0.0.0.0', ports: undefined, isRelayed: true };
  }
  const wanted = config.webrtcHost ?? config.host;
  // If HTTP is bound to a host name, its address is the one that the client connected to.
  const host = isIP(wanted) === 0 ? reached : specific(wanted);
  const announced = config.webrtcAddress ?? host;
  const ports = config.webrtcPorts;
  // Each announced address takes a socket, and the library gives all of them the same port range.
  const announcesAll = announced === undefined && ports === undefined;
  const one = announced ?? reached;
  return {
    settings: {
      iceServers: stunUrl === undefined ? [] : [{ urls: stunUrl }],
      iceUseIpv4: announcesAll,
      iceUseIpv6: announcesAll && isIP(wanted) !== 4,
      ...(one === undefined ? {} : { iceAdditionalHostAddresses: [one] }),
      ...binding(host),
    },
    ports,
    host: host ?? (one !== undefined && isIPv6(one) ? '::' : '0.0.0.0'),
    isRelayed: false,
  };
}

/** The address, if it belongs to a single interface. */
function specific(host: string | undefined): string | undefined {
  return host === undefined || isWildcard(host) ? undefined : host;
}

function binding(host: string | undefined): RTCPeerConnectionConfig {
  return host === undefined ? {} : { iceInterfaceAddresses: { [isIPv6(host) ? 'udp6' : 'udp4']: host } };
}
