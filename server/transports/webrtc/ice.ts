import { isIP, isIPv6 } from 'node:net';
import type { RTCPeerConnectionConfig } from 'werift';
import type { Config } from '../../config/config.ts';
import { isWildcard } from '../../config/loopback.ts';

/** By which addresses and ports a call is to be reached. */
export interface Reach {
  /** As the WebRTC library wants it, ports left out. */
  readonly settings: RTCPeerConnectionConfig;
  /** A port has to be found in this range. */
  readonly ports: readonly [first: number, last: number] | undefined;
  /** The address that the call's socket is bound to. */
  readonly host: string;
  /** Whether sound goes through a relay. */
  readonly isRelayed: boolean;
}

type Settings = Pick<
  Config,
  'host' | 'webrtcHost' | 'webrtcAddress' | 'webrtcPorts' | 'stunUrl' | 'turnUrl' | 'turnUser' | 'turnCredential'
>;

/**
 * How a caller reaches us: by default on the addresses that HTTP is served on. `reached`: the one the caller has used
 * already, which need not be one of the network's (loopback). Behind a relay nothing of ours is announced.
 */
export function reachOf(config: Settings, reached: string | undefined): Reach {
  const { stunUrl, turnUrl, turnUser = '', turnCredential = '' } = config;
  if (turnUrl !== undefined) {
    const iceServers = [{ urls: turnUrl, username: turnUser, credential: turnCredential }];
    const host = specific(config.webrtcHost);
    const settings = { iceServers, iceTransportPolicy: 'relay', ...binding(host) } as const;
    return { settings, host: host ?? '0.0.0.0', ports: undefined, isRelayed: true };
  }
  const wanted = config.webrtcHost ?? config.host;
  // Where HTTP is served on the address of a name, it is the one that the caller came by.
  const host = isIP(wanted) === 0 ? reached : specific(wanted);
  const announced = config.webrtcAddress ?? host;
  const ports = config.webrtcPorts;
  // Every address that is announced takes a socket of its own, and the library gives one range to all of them.
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

/** An address, where it is that of one interface. */
function specific(host: string | undefined): string | undefined {
  return host === undefined || isWildcard(host) ? undefined : host;
}

function binding(host: string | undefined): RTCPeerConnectionConfig {
  return host === undefined ? {} : { iceInterfaceAddresses: { [isIPv6(host) ? 'udp6' : 'udp4']: host } };
}
