import { describe, expect, it } from 'vitest';
import { iceSettingsFor } from '../../../../server/transports/webrtc/ice.ts';
import { watchUdp } from '../../../fakes/network/udp-watch.ts';
import { serve } from '../../../rigs/serve-rig.ts';
import { candidatesOf, dial, NodeCaller, offerTo, refusalOf } from '../../../rigs/webrtc-rig.ts';

describe('network of a call', () => {
  it('announces only loopback without a STUN lookup if HTTP is served on loopback', async () => {
    const server = await serve();
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    const answer = await (await offerTo(server, offer)).text();
    const { port } = candidatesOf(answer)[0] ?? {};
    expect(candidatesOf(answer)).toEqual([{ address: '127.0.0.1', port, type: 'host' }]);
    expect(udp.bound()).toEqual([{ address: '127.0.0.1', port }]);
    expect(udp.lookups()).toBe(0);
  });

  it('closes its UDP socket when the call ends', async () => {
    const server = await serve();
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    await caller.connect(await (await offerTo(server, offer)).text());
    expect(udp.bound()).toHaveLength(1);
    await Promise.all([caller.untilClosed(), server.app.close()]);
    expect(udp.bound()).toEqual([]);
  });

  it('announces the public address that a NAT maps to the server', async () => {
    const server = await serve({ flags: { webrtcHost: '0.0.0.0', webrtcAddress: '203.0.113.7' } });
    const caller = new NodeCaller();
    const offer = await caller.offer();
    using udp = watchUdp();
    const answer = await (await offerTo(server, offer)).text();
    const [bound] = udp.bound();
    expect(udp.bound()).toEqual([{ address: '0.0.0.0', port: bound?.port }]);
    expect(candidatesOf(answer)).toEqual([{ address: '203.0.113.7', port: bound?.port, type: 'host' }]);
    // Like a NAT.
    await caller.connect(answer.replaceAll('203.0.113.7', '127.0.0.1'));
    await caller.until('session.created');
  });

  it('refuses to start with a WebRTC address that is not the machine’s', async () => {
    await expect(serve({ flags: { webrtcHost: '198.51.100.1' } })).rejects.toThrow('DRAMATIS_WEBRTC_HOST');
  });

  it('declines media sections that are not bundled', async () => {
    const server = await serve();
    const [head = '', ...sections] = (await new NodeCaller().offer()).split(/^(?=m=)/m);
    const apart = [
      head.replace(/^a=group:.*\r\n/m, ''),
      ...sections.map((section, index) => section.replace(/^(a=ice-ufrag:).*$/m, `$1own${index}\r`)),
    ].join('');
    const response = await offerTo(server, apart);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('a=group:BUNDLE');
  });
});

describe('port range', () => {
  // Below the ephemeral ports, and different from those of other test runs.
  const first = 20_000 + (process.pid % 3_000) * 4;
  const ports = `${first}-${first + 2}`;

  it('uses one port of the range per call and frees it when the call ends', async () => {
    const server = await serve({ flags: { webrtcPorts: ports } });
    const calls = await Promise.all([1, 2, 3].map(() => dial(server)));
    const used = calls.flatMap(({ answer }) => candidatesOf(answer).map(({ port }) => port));
    expect(used.toSorted((a, b) => a - b)).toEqual([first, first + 1, first + 2]);
    expect(await refusalOf(await offerTo(server, await new NodeCaller().offer()))).toEqual([503, 'server_busy']);
    await calls[1]?.caller.close();
    await expect.poll(() => server.sessions.active).toBe(2);
    await expect.poll(async () => (await offerTo(server, await new NodeCaller().offer())).status).toBe(201);
  });

  it('skips ports of the range that are taken', async () => {
    const one = await serve({ flags: { webrtcPorts: ports } });
    const other = await serve({ flags: { webrtcPorts: ports } });
    const calls = [await dial(one), await dial(other)];
    const used = calls.flatMap(({ answer }) => candidatesOf(answer).map(({ port }) => port));
    expect(used).toEqual([first, first + 1]);
  });
});

describe('iceSettingsFor', () => {
  const reach = (config: Partial<Parameters<typeof iceSettingsFor>[0]>, reached?: string) => {
    const { settings, host, ports } = iceSettingsFor({ host: '127.0.0.1', ...config }, reached);
    const { iceUseIpv4, iceUseIpv6, iceAdditionalHostAddresses: announced, iceInterfaceAddresses: bound } = settings;
    return { all: [iceUseIpv4, iceUseIpv6], announced, bound, host, ports };
  };
  const none = [false, false];

  it('announces the address where HTTP is served', () => {
    const here = { all: none, announced: ['127.0.0.1'], bound: { udp4: '127.0.0.1' }, host: '127.0.0.1' };
    expect(reach({}, '127.0.0.1')).toMatchObject(here);
    expect(reach({ host: 'localhost' }, '127.0.0.1')).toMatchObject(here);
    expect(reach({ host: 'localhost' }, '::1')).toMatchObject({ announced: ['::1'], bound: { udp6: '::1' } });
    expect(reach({ host: '192.168.1.5' }, '192.168.1.5')).toMatchObject({ all: none, announced: ['192.168.1.5'] });
  });

  it('announces every address of the machine if HTTP is served on all', () => {
    expect(reach({ host: '::' }, '127.0.0.1')).toMatchObject({ all: [true, true], announced: ['127.0.0.1'] });
    expect(reach({ host: '0.0.0.0' }, '10.0.0.2')).toMatchObject({ all: [true, false], announced: ['10.0.0.2'] });
    expect(reach({ host: '0.0.0.0' }, '10.0.0.2').bound).toBeUndefined();
  });

  it('announces a single address if ports are limited', () => {
    const webrtcPorts = [50_000, 50_099] as const;
    expect(reach({ host: '0.0.0.0', webrtcPorts }, '10.0.0.2')).toMatchObject({
      all: none,
      announced: ['10.0.0.2'],
      host: '0.0.0.0',
      ports: webrtcPorts,
    });
    expect(reach({ host: '::', webrtcPorts }, 'fd00::2')).toMatchObject({ announced: ['fd00::2'], host: '::' });
    const webrtcAddress = '203.0.113.7';
    expect(reach({ host: '0.0.0.0', webrtcPorts, webrtcAddress }, '10.0.0.2').announced).toEqual([webrtcAddress]);
  });

  it('announces its own interface behind a proxy on the same machine', () => {
    const webrtcHost = '192.168.1.5';
    expect(reach({ webrtcHost }, '127.0.0.1')).toMatchObject({ announced: [webrtcHost], bound: { udp4: webrtcHost } });
  });
});
