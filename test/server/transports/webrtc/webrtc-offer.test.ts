import { describe, expect, it } from 'vitest';
import { readOffer } from '../../../../server/transports/webrtc/offer.ts';

describe('readOffer', () => {
  it('reads an offer without its addresses and without media other than audio and events', () => {
    const offer = readOffer(
      [
        'v=0',
        'a=group:BUNDLE 0 1 2',
        'a=fingerprint:sha-256 00',
        'a=ice-ufrag:user',
        'a=ice-pwd:password',
        'm=video 9 UDP/TLS/RTP/SAVPF 96',
        'a=mid:0',
        'a=candidate:1 1 udp 1 10.0.0.1 9 typ host',
        'm=audio 9 UDP/TLS/RTP/SAVPF 0 111',
        'a=mid:1',
        'a=recvonly',
        'a=setup:actpass',
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:111 opus/48000/2',
        'a=candidate:1 1 udp 1 4711.local 9 typ host',
        'a=end-of-candidates',
        '',
      ].join('\r\n'),
    );
    expect(offer).toMatchObject({
      hasEvents: false,
      letsUsWait: true,
      audio: { mid: '1', payloadType: 111, sends: false, receives: true },
    });
    expect('sdp' in offer && offer.sdp).not.toMatch(/candidate/);
    expect('sdp' in offer && offer.sdp).toContain('m=video 0 UDP/TLS/RTP/SAVPF 96\r\n');
  });
});
