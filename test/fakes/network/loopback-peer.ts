import { RTCPeerConnection, useOPUS } from 'werift';

/** The client's end of a WebRTC call on loopback, with the same library as the server. */
export function openLoopbackPeer(): RTCPeerConnection {
  return new RTCPeerConnection({
    codecs: { audio: [useOPUS()] },
    // Without this, the library never closes the socket of the bundled section.
    bundlePolicy: 'max-bundle',
    iceServers: [],
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ['127.0.0.1'],
    iceInterfaceAddresses: { udp4: '127.0.0.1' },
  });
}
