import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handles one request in a hostile way; `undefined` leaves it to the normal answer. */
export type Trick = (request: WeightsRequest, response: ServerResponse) => true | undefined;

export interface WeightsRequest {
  readonly path: string;
  /** First byte of the rest that is requested; 0 for the whole file. */
  readonly from: number;
  /** Number of requests before. */
  readonly number: number;
  readonly file: Buffer;
}

/** A server of model weights that can misbehave like real ones. */
export interface WeightsServer {
  readonly url: string;
  /** Every request, as `RANGE PATH`. */
  readonly seen: readonly string[];
  file: Buffer;
  etag: string | undefined;
  trick: Trick | undefined;
  close(): Promise<void>;
}

/** Opens it on loopback; every path returns the same file. */
export async function openWeightsServer(file: Buffer): Promise<WeightsServer> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const asked = { path: request.url ?? '', number: seen.length, from, file: self.file };
    seen.push(`${request.headers.range ?? 'all'} ${request.url}`);
    if (self.trick?.(asked, response) === true) return;
    answer(asked, response, self.etag);
  });
  const self: WeightsServer = {
    url: '',
    seen,
    file,
    etag: '"one"',
    trick: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(self, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** Answers correctly. */
export function answer({ from, file }: WeightsRequest, response: ServerResponse, etag?: string): void {
  const headers = { 'accept-ranges': 'bytes', ...(etag !== undefined && { etag }) };
  if (from === 0) {
    response.writeHead(200, { ...headers, 'content-length': file.length });
  } else if (from < file.length) {
    const range = `bytes ${from}-${file.length - 1}/${file.length}`;
    response.writeHead(206, { ...headers, 'content-length': file.length - from, 'content-range': range });
  } else {
    response.writeHead(416, { 'content-range': `bytes */${file.length}` });
  }
  response.end(file.subarray(from));
}

/** Deterministic bytes that look like weights. */
export function weightsOf(bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let index = 0; index * 32 < bytes; index += 1) {
    parts.push(createHash('sha256').update(String(index)).digest());
  }
  return Buffer.concat(parts).subarray(0, bytes);
}
