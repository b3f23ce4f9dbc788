import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';

/** A TLS proxy in front of a plain server on loopback, for clients that only speak wss. */
export interface TlsTunnel extends AsyncDisposable {
  readonly port: number;
  /** New self-signed certificate in PEM, which a client has to trust. */
  readonly certificate: string;
}

/** Opens a tunnel on a free port to a port of 127.0.0.1. */
export async function openTlsTunnel(toPort: number): Promise<TlsTunnel> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const open = new Set<TLSSocket>();
  const server = createServer({ cert, key }, (near) => {
    open.add(near);
    near.once('close', () => open.delete(near));
    const far = connect(toPort, '127.0.0.1');
    near.pipe(far).pipe(near);
    // A side that breaks closes the other.
    for (const [side, other] of [
      [near, far],
      [far, near],
    ] as const) {
      side.on('error', () => other.destroy()).once('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    certificate: cert,
    async [Symbol.asyncDispose]() {
      for (const near of open) near.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
