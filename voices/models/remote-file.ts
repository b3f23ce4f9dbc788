import { DownloadFault, faultOfStatus } from './download-fault.ts';
import type { HttpAnswer, HttpClient } from './http-get.ts';

/** A file on a server, as the server describes it. */
export interface RemoteFile {
  readonly url: string;
  readonly bytes: number | undefined;
  /** `ETag`, otherwise `Last-Modified`, otherwise empty. */
  readonly version: string;
  /** True if the server supports range requests for it. */
  readonly ranges: boolean;
}

interface Asking {
  readonly client: HttpClient;
  readonly signal: AbortSignal;
  /** Expected size. */
  readonly bytes?: number | undefined;
  readonly sha256: string;
}

/**
 * True if the file must be downloaded in one request: its size is unknown, or there is neither a version nor a hash to
 * tell parts of different files apart.
 */
export function isWholeFile({ version, bytes }: RemoteFile, sha256: string): boolean {
  return bytes === undefined || (version === '' && sha256 === '');
}

/**
 * Requests the first byte. Throws a `DownloadFault` if there is no such file, or its size differs from the expected
 * one.
 */
export async function probe(client: HttpClient, url: string, { signal, bytes: expected }: Asking): Promise<RemoteFile> {
  const answer = await client.get(url, { range: 'bytes=0-0' }, signal);
  answer.end();
  const { status } = answer;
  if (status !== 206 && status !== 200) throw faultOfStatus(status, answer.headers['retry-after']);
  const found = status === 206 ? partOf(answer)?.of : lengthOf(answer);
  if (found !== undefined && expected !== undefined && found !== expected) {
    throw new DownloadFault('refused', `the server has a file of ${found} bytes, not ${expected}`);
  }
  return { url, bytes: found, version: versionOf(answer), ranges: status === 206 && found !== undefined };
}

/**
 * Yields the bytes from `from` to before `to`, or fewer. Throws a `DownloadFault` if they belong to another version of
 * the file.
 */
export async function* readPiece(remote: RemoteFile, from: number, to: number, asking: Asking): AsyncGenerator<Buffer> {
  const { url, version } = remote;
  // Weak versions are not allowed in `If-Range`; the response's version is compared anyway.
  const condition = version === '' || version.startsWith('W/') ? {} : { 'if-range': version };
  const answer = await asking.client.get(url, { range: `bytes=${from}-${to - 1}`, ...condition }, asking.signal);
  try {
    if (answer.status === 200 || answer.status === 416)
      throw new DownloadFault('changed', 'the file has changed on the server');
    if (answer.status !== 206) throw faultOfStatus(answer.status, answer.headers['retry-after']);
    const part = partOf(answer);
    if (part?.from !== from || part.of !== remote.bytes || versionOf(answer) !== version) {
      throw new DownloadFault('changed', 'the server sent parts of another file');
    }
    let left = to - from;
    for await (const block of answer.body) {
      if (block.length > left) throw new DownloadFault('changed', 'the server sent more than was requested');
      left -= block.length;
      yield block;
    }
  } finally {
    answer.end();
  }
}

/** Yields the whole file from the beginning. Throws a `DownloadFault` if it is longer or shorter than it should be. */
export async function* readWhole(remote: RemoteFile, asking: Asking): AsyncGenerator<Buffer> {
  const answer = await asking.client.get(remote.url, {}, asking.signal);
  try {
    if (answer.status !== 200) throw faultOfStatus(answer.status, answer.headers['retry-after']);
    const expected = asking.bytes ?? lengthOf(answer);
    const isFramed = answer.headers['transfer-encoding'] === 'chunked';
    if (expected === undefined && !isFramed && asking.sha256 === '') {
      throw new DownloadFault('refused', 'the size of the file is unknown, and so is its hash');
    }
    let came = 0;
    for await (const block of answer.body) {
      came += block.length;
      if (expected !== undefined && came > expected) {
        throw new DownloadFault('refused', `the server sent more than ${expected} bytes`);
      }
      yield block;
    }
    if (expected !== undefined && came < expected) {
      throw new DownloadFault('broken', `${came} of ${expected} bytes were received`);
    }
  } finally {
    answer.end();
  }
}

function versionOf({ headers }: HttpAnswer): string {
  const version = headers['etag'] ?? headers['last-modified'];
  return typeof version === 'string' ? version : '';
}

function lengthOf({ headers }: HttpAnswer): number | undefined {
  const length = headers['content-length'];
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

function partOf({ headers }: HttpAnswer): { readonly from: number; readonly of: number } | undefined {
  const range = headers['content-range'];
  const found = typeof range === 'string' ? /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(range) : null;
  return found === null ? undefined : { from: Number(found[1]), of: Number(found[2]) };
}
