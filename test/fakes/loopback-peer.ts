import { RTCPeerConnection, useOPUS } from 'werift';

/** The caller's end of a WebRTC call that stays on loopback, on the same library as the server. */
export function openLoopbackPeer(): RTCPeerConnection {
  return new RTCPeerConnection({
    codecs: { audio: [useOPUS()] },
    // Else the library never closes the socket of the section that is bundled.
    bundlePolicy: 'max-bundle',
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ['127.0.0.1'],
    iceInterfaceAddresses: { udp4: '127.0.0.1' },
  });
}
