import { constants, ftruncateSync, writeFileSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { z } from 'zod';
import { hashFile } from '../runtime/files.ts';
import { asFault, DownloadFault, faultOfStatus } from './download-fault.ts';
import type { HttpAnswer, HttpClient } from './http-get.ts';
import { ModelError } from './model-error.ts';

export interface DownloadOptions {
  readonly client: HttpClient;
  /** Addresses of the same file. */
  readonly urls: readonly string[];
  /** Size from the catalogue, if it states one. */
  readonly bytes?: number | undefined;
  /** Lower-case hex; empty if not known yet. */
  readonly sha256: string;
  /** Path of the result; has the suffix `.part` until it is complete and verified. */
  readonly target: string;
  readonly signal: AbortSignal;
  /** `done` includes the bytes of an earlier run; `already` is only those. */
  onProgress?(progress: { readonly done: number; readonly of: number | undefined; readonly already: number }): void;
  /** Called when a failure is about to be retried after `ms`. */
  onRetry?(why: string, ms: number): void;
  /** Waits before the next try. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

const mostFailures = 5;

const mostRestarts = 2;

const longestWaitMs = 60_000;

const codes: Readonly<Partial<Record<DownloadFault['kind'], ModelError['code']>>> = {
  busy: 'model_server_busy',
  proxy: 'model_proxy_failed',
};

const remedies: Readonly<Partial<Record<ModelError['code'], string>>> = {
  model_corrupt:
    'Nothing was installed. Try again, or use another mirror. If the error persists, the publisher has changed the file.',
  model_proxy_failed: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and run the command again; it resumes the download.',
};

/**
 * Downloads one file. If the server supports ranges, a broken connection, or a run whose process was killed, costs
 * nothing that has come. Retries broken and stalled connections, waits for busy servers, then tries the next address.
 * Only a file with the right hash gets the name `target`. Resolves to its hash. Throws a `ModelError`, or
 * `signal.reason` when aborted.
 */
export async function download(options: DownloadOptions): Promise<string> {
  const reasons: string[] = [];
  let code: ModelError['code'] = 'model_download_failed';
  for (const url of options.urls) {
    try {
      return await downloadFrom(url, options);
    } catch (thrown) {
      options.signal.throwIfAborted();
      const fault = thrown instanceof ModelError && thrown.code !== 'model_disk_full' ? thrown : asFault(thrown);
      code = fault instanceof ModelError ? fault.code : (codes[fault.kind] ?? 'model_download_failed');
      reasons.push(`${url}: ${fault.message}`);
    }
  }
  const remedy =
    remedies[code] ??
    'Run the same command again later; it resumes the download. DRAMATIS_MODEL_MIRRORS names other servers.';
  throw new ModelError(code, `${reasons.join('; ')}. ${remedy}`);
}

async function downloadFrom(url: string, options: DownloadOptions): Promise<string> {
  const part = `${options.target}.part`;
  let already: number | undefined;
  const tell = (done: number, of: number | undefined): void => {
    already ??= done;
    options.onProgress?.({ done, of, already });
  };
  let furthest = 0;
  let failures = 0;
  for (let restarts = 0; ;) {
    try {
      await receive(url, part, tell, options);
      return await finish(part, options);
    } catch (thrown) {
      options.signal.throwIfAborted();
      const fault = asFault(thrown);
      if (fault.kind === 'changed' && restarts < mostRestarts) {
        restarts += 1;
        await forgetDownload(part);
        continue;
      }
      const place = await sizeOf(part);
      failures = place > furthest ? 1 : failures + 1;
      furthest = Math.max(furthest, place);
      if (fault.kind === 'changed' || fault.kind === 'refused' || failures >= mostFailures) throw fault;
      const ms = Math.min(longestWaitMs, fault.retryAfterMs ?? 500 * 2 ** failures);
      options.onRetry?.(fault.message, ms);
      await options.wait(ms, options.signal);
    }
  }
}

/** Appends the missing bytes of the file to `part`. Throws a `DownloadFault` if not all of it came. */
async function receive(
  url: string,
  part: string,
  tell: (done: number, of: number | undefined) => void,
  { client, bytes, sha256, signal }: DownloadOptions,
): Promise<void> {
  const left = await readJournal(part, url, sha256);
  await using file = await open(part, constants.O_RDWR | constants.O_CREAT);
  const have = left === undefined ? 0 : (await file.stat()).size;
  if (have > 0 && have === left?.bytes) return;
  const answer = await client.get(url, left === undefined || have === 0 ? {} : rangeFrom(have, left.version), signal);
  try {
    const isRest = answer.status === 206 && have > 0;
    const of = isRest ? checkRest(answer, have, left) : checkWhole(answer, bytes, sha256);
    // Nothing is awaited before the body is read: if the connection breaks, Node discards what is not read yet.
    if (!isRest) {
      ftruncateSync(file.fd);
      const journal: Journal = { url, version: versionOf(answer), bytes: of };
      writeFileSync(`${part}.json`, JSON.stringify(journal));
    }
    let done = isRest ? have : 0;
    tell(done, of);
    for await (const block of answer.body) {
      if (of !== undefined && done + block.length > of) {
        throw new DownloadFault('changed', `the server sends more than ${of} bytes`);
      }
      await file.write(block, 0, block.length, done);
      done += block.length;
      tell(done, of);
    }
    await file.datasync();
    if (of !== undefined && done < of) throw new DownloadFault('broken', `only ${done} of ${of} bytes arrived`);
  } finally {
    answer.end();
  }
}

function rangeFrom(have: number, version: string): Readonly<Record<string, string>> {
  // Weak versions are not allowed in `If-Range`; the answer's version is compared anyway.
  const condition = version === '' || version.startsWith('W/') ? {} : { 'if-range': version };
  return { range: `bytes=${have}-`, ...condition };
}

/** Returns the size of the whole file, of which the answer holds the bytes after `have`. */
function checkRest(answer: HttpAnswer, have: number, left: Journal | undefined): number {
  const range = answer.headers['content-range'];
  const found = typeof range === 'string' ? /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(range) : null;
  const of = Number(found?.[2]);
  const isRest = Number(found?.[1]) === have && of >= have && of === (left?.bytes ?? of);
  if (isRest && versionOf(answer) === left?.version) return of;
  throw new DownloadFault('changed', 'the server sent a part of another file');
}

/** Returns the size of the file that the answer holds; undefined if only the end of the answer shows it. */
function checkWhole(answer: HttpAnswer, expected: number | undefined, sha256: string): number | undefined {
  const { status, headers } = answer;
  if (status === 206 || status === 416) throw new DownloadFault('changed', 'the file has changed on the server');
  if (status !== 200) throw faultOfStatus(status, headers['retry-after']);
  const length = headers['content-length'];
  const stated = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
  if (stated !== undefined && expected !== undefined && stated !== expected) {
    throw new DownloadFault('refused', `the server has a file of ${stated} bytes, not ${expected}`);
  }
  const of = expected ?? stated;
  if (of === undefined && headers['transfer-encoding'] !== 'chunked' && sha256 === '') {
    throw new DownloadFault(
      'refused',
      'the size of the file is unknown: neither the server nor the catalogue states it',
    );
  }
  return of;
}

function versionOf({ headers }: HttpAnswer): string {
  return headers['etag']?.toString() ?? headers['last-modified']?.toString() ?? '';
}

/** Verifies the hash and renames the file to its final name. */
async function finish(part: string, { sha256, target }: DownloadOptions): Promise<string> {
  const found = await hashFile(part);
  if (sha256 !== '' && found !== sha256) {
    await forgetDownload(part);
    throw new ModelError('model_corrupt', `the download has the SHA-256 ${found}, not ${sha256}`);
  }
  await rename(part, target);
  await forgetDownload(part);
  return found;
}

/** Kept next to an unfinished file, so that its download resumes after a kill. */
const journalSchema = z.strictObject({
  url: z.string(),
  /** The server's `ETag`, otherwise `Last-Modified`, otherwise empty. */
  version: z.string(),
  bytes: z.number().int().min(0).optional(),
});

type Journal = z.infer<typeof journalSchema>;

/** The journal of an earlier run, if more of the same file can be appended to what it left. */
async function readJournal(part: string, url: string, sha256: string): Promise<Journal | undefined> {
  try {
    const left = journalSchema.parse(JSON.parse(await readFile(`${part}.json`, 'utf8')));
    // Without a version, only the hash could distinguish parts of different files.
    return left.url === url && (left.version !== '' || sha256 !== '') ? left : undefined;
  } catch {
    return undefined;
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** Deletes an unfinished file and its journal. */
async function forgetDownload(part: string): Promise<void> {
  await Promise.all([part, `${part}.json`].map((file) => rm(file, { force: true })));
}
