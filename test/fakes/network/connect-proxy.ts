import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** Replaces the normal handling of a request; returns true if it did. `socket` is the client's. */
export type ProxyTrick = (socket: Socket, request: IncomingMessage) => boolean;

/** A corporate-style proxy on loopback: `CONNECT` for https, absolute URLs for http. */
export interface ConnectProxy extends AsyncDisposable {
  readonly host: string;
  /** Requests so far, in order: `CONNECT 127.0.0.1:443`, `GET http://…`. */
  readonly asked: string[];
  trick: ProxyTrick | undefined;
}

export async function openConnectProxy(): Promise<ConnectProxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (self.trick?.(request.socket, request) === true) return;
    const { proxyConnection: _mine, ...headers } = request.headers;
    httpRequest(request.url ?? '', { method: request.method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
  });
  server.on('connect', (request, near: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (self.trick?.(near, request) === true) return;
    const [host, port] = (request.url ?? '').split(':');
    const far = connect(Number(port), host, () => near.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    near.pipe(far).pipe(near);
    far.on('error', () => near.destroy()).once('close', () => near.destroy());
    near.once('close', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const self: ConnectProxy = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    trick: undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}

/** Answers with a status and an empty body. */
export function answering(status: string, ...headers: readonly string[]): ProxyTrick {
  return (socket) => {
    socket.end([`HTTP/1.1 ${status}`, ...headers, 'content-length: 0', 'connection: close', '', ''].join('\r\n'));
    return true;
  };
}
