import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handles one request in a hostile way; `undefined` leaves it to the normal answer. */
export type Trick = (request: WeightsRequest, response: ServerResponse) => true | undefined;

export interface WeightsRequest {
  readonly path: string;
  /** Both inclusive; absent if the whole file is requested. */
  readonly range?: { readonly from: number; readonly to: number };
  /** Number of requests before, not counting probes (first byte only). */
  readonly number: number;
  readonly isLook: boolean;
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
  /** Resolves when this many requests (other than probes) have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens it on loopback; every path returns the same file. */
export async function openWeightsServer(file: Buffer): Promise<WeightsServer> {
  const seen: string[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let number = 0;
  const server = createServer((request, response) => {
    const range = rangeOf(request);
    const isLook = range?.from === 0 && range.to === 0;
    seen.push(`${request.headers.range ?? 'all'} ${request.url}`);
    const asked = { path: request.url ?? '', number, isLook, file: self.file, ...(range && { range }) };
    if (!isLook) number += 1;
    for (const { count, resolve } of waiting) if (number >= count) resolve();
    if (self.trick?.(asked, response) === true) return;
    answer(asked, response, self.etag);
  });
  const self: WeightsServer = {
    url: '',
    seen,
    file,
    etag: '"one"',
    trick: undefined,
    came: (count) => new Promise((resolve) => (number >= count ? resolve() : void waiting.push({ count, resolve }))),
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
export function answer({ range, file }: WeightsRequest, response: ServerResponse, etag?: string): void {
  const headers = { 'accept-ranges': 'bytes', ...(etag !== undefined && { etag }) };
  if (range === undefined) {
    response.writeHead(200, { ...headers, 'content-length': file.length });
    response.end(file);
    return;
  }
  if (range.from >= file.length) {
    response.writeHead(416, { 'content-range': `bytes */${file.length}` });
    response.end();
    return;
  }
  const part = file.subarray(range.from, range.to + 1);
  const to = range.from + part.length - 1;
  response.writeHead(206, {
    ...headers,
    'content-length': part.length,
    'content-range': `bytes ${range.from}-${to}/${file.length}`,
  });
  response.end(part);
}

function rangeOf(request: IncomingMessage): { readonly from: number; readonly to: number } | undefined {
  const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  return found === null ? undefined : { from: Number(found[1]), to: Number(found[2]) };
}

/** Deterministic bytes that look like weights. */
export function weightsOf(bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let index = 0; index * 32 < bytes; index += 1) {
    parts.push(createHash('sha256').update(String(index)).digest());
  }
  return Buffer.concat(parts).subarray(0, bytes);
}
