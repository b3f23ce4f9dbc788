import { open, rename, stat, type FileHandle, readFile, rm, writeFile } from 'node:fs/promises';
import { hashFile } from '../runtime/hash.ts';
import { asFault, DownloadFault } from './download-fault.ts';
import type { HttpClient } from './http-get.ts';
import { ModelError } from './model-error.ts';
import { isWholeFile, probe, readPiece, readWhole, type RemoteFile } from './remote-file.ts';
import { z } from 'zod';

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
  /** `done` includes what an earlier run left; `already` is that part alone. */
  onProgress?(progress: { readonly done: number; readonly of: number | undefined; readonly already: number }): void;
  /** Called when a failure is about to be retried after `ms`. */
  onRetry?(why: string, ms: number): void;
  /** Waits before the next try. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Concurrent connections. Default: 4. */
  readonly lanes?: number;
  /** Bytes per request. Default: 8 MiB. */
  readonly pieceBytes?: number;
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
 * Downloads one file, in pieces over several connections if the server supports it, and resumes a download whose
 * process was killed. Retries broken and stalled connections, waits for busy servers, then tries the next address. Only
 * a file with the right hash gets the name `target`. Resolves to its hash. Throws a `ModelError`, or `signal.reason`
 * when aborted.
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
  for (let restart = 0; ; restart += 1) {
    const remote = await withRetries(options, () => probe(options.client, url, options));
    try {
      // A server with inconsistent range responses may still deliver the file in one.
      if (restart < mostRestarts && remote.ranges && !isWholeFile(remote, options.sha256)) {
        await inPieces(remote, part, options);
      } else await withRetries(options, () => inOne(remote, part, options));
      return await finish(part, remote, options);
    } catch (thrown) {
      const fault = asFault(thrown);
      if (fault.kind !== 'changed' || restart >= mostRestarts) throw fault;
      await forgetDownload(part);
    }
  }
}

/** Verifies the hash and renames the file to its final name. */
async function finish(part: string, remote: RemoteFile, { sha256, target }: DownloadOptions): Promise<string> {
  const { size } = await stat(part);
  if (remote.bytes !== undefined && size !== remote.bytes) {
    throw new DownloadFault('changed', `${size} of ${remote.bytes} bytes were received`);
  }
  const found = await hashFile(part);
  if (sha256 !== '' && found !== sha256) {
    await forgetDownload(part);
    throw new ModelError('model_corrupt', `the download has the SHA-256 ${found}, not ${sha256}`);
  }
  await rename(part, target);
  await forgetDownload(part);
  return found;
}

/** Retries failures with exponential backoff, or after the delay the server asks for; gives up after `mostFailures`. */
async function withRetries<Result>(options: DownloadOptions, work: () => Promise<Result>): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (thrown) {
      options.signal.throwIfAborted();
      await rest(asFault(thrown), failures, options);
    }
  }
}

async function rest(fault: DownloadFault, failures: number, options: DownloadOptions): Promise<void> {
  if (fault.kind === 'changed' || fault.kind === 'refused' || failures >= mostFailures) throw fault;
  const ms = Math.min(longestWaitMs, fault.retryAfterMs ?? 500 * 2 ** failures);
  options.onRetry?.(fault.message, ms);
  await options.wait(ms, options.signal);
}

async function inOne(remote: RemoteFile, part: string, options: DownloadOptions): Promise<void> {
  await forgetDownload(part);
  const file = await open(part, 'w');
  try {
    let done = 0;
    for await (const block of readWhole(remote, options)) {
      await file.write(block, 0, block.length, done);
      done += block.length;
      options.onProgress?.({ done, of: remote.bytes, already: 0 });
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function inPieces(remote: RemoteFile, part: string, options: DownloadOptions): Promise<void> {
  const { lanes = 4, pieceBytes = 2 ** 23, signal } = options;
  const { url, version, bytes = 0 } = remote;
  const journal = await journalOf({ url, version, bytes, pieceBytes, done: [] }, part);
  const sizeOf = (piece: number): number => Math.min(journal.pieceBytes, bytes - piece * journal.pieceBytes);
  const todo = Array.from({ length: Math.ceil(bytes / journal.pieceBytes) }, (_, piece) => piece).filter(
    (piece) => !journal.done.includes(piece),
  );
  const already = journal.done.reduce((sum, piece) => sum + sizeOf(piece), 0);
  let done = already;
  let saving = Promise.resolve();
  const tell = (more: number): void => {
    done += more;
    options.onProgress?.({ done, of: bytes, already });
  };
  tell(0);
  const file = await open(part, 'r+');
  const stop = new AbortController();
  const lane = async (): Promise<void> => {
    for (let piece = todo.shift(); piece !== undefined; piece = todo.shift()) {
      const from = piece * journal.pieceBytes;
      const bounds = { from, to: from + sizeOf(piece) };
      await onePiece(remote, bounds, file, tell, { ...options, signal: AbortSignal.any([signal, stop.signal]) });
      await file.datasync();
      journal.done.push(piece);
      saving = saving.then(() => writeJournal(`${part}.json`, journal));
      await saving;
    }
  };
  const running = Array.from({ length: Math.min(lanes, todo.length) }, lane);
  try {
    await Promise.all(running);
  } catch (thrown) {
    stop.abort(thrown);
    await Promise.allSettled(running);
    signal.throwIfAborted();
    throw thrown;
  } finally {
    await file.close();
  }
}

/** The journal of an earlier run if it matches; otherwise a new one, and an empty file. */
async function journalOf(fresh: DownloadJournal, part: string): Promise<DownloadJournal> {
  const left = await readJournal(`${part}.json`);
  const fits = left?.url === fresh.url && left.version === fresh.version && left.bytes === fresh.bytes;
  if (fits && (await stat(part).catch(() => undefined)) !== undefined) return left;
  await forgetDownload(part);
  const file = await open(part, 'w');
  await file.close();
  return fresh;
}

/** Downloads one piece, in as many requests as it takes. */
async function onePiece(
  remote: RemoteFile,
  { from, to }: { readonly from: number; readonly to: number },
  file: FileHandle,
  tell: (bytes: number) => void,
  options: DownloadOptions,
): Promise<void> {
  let place = from;
  let failures = 0;
  while (place < to) {
    const before = place;
    try {
      for await (const block of readPiece(remote, place, to, options)) {
        await file.write(block, 0, block.length, place);
        place += block.length;
        tell(block.length);
      }
      if (place === before) throw new DownloadFault('broken', 'the server sent no data');
    } catch (thrown) {
      options.signal.throwIfAborted();
      failures = place > before ? 1 : failures + 1;
      await rest(asFault(thrown), failures, options);
    }
  }
}

const journalSchema = z.strictObject({
  url: z.string(),
  /** The server's `ETag`, or `Last-Modified`. */
  version: z.string(),
  bytes: z.number().int().min(0),
  pieceBytes: z.number().int().positive(),
  /** Indices of the pieces that are on disk. */
  done: z.array(z.number().int().min(0)),
});

/** Progress of a download; kept next to its file, so that it resumes after a kill. */
type DownloadJournal = z.infer<typeof journalSchema>;

/** Reads the journal of an interrupted download; undefined if there is none, or it cannot be read. */
async function readJournal(file: string): Promise<DownloadJournal | undefined> {
  try {
    return journalSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Atomic: a kill leaves either the old or the new journal. */
async function writeJournal(file: string, journal: DownloadJournal): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(journal));
  await rename(`${file}.new`, file);
}

/** Deletes the journal and the partial file of a download. */
async function forgetDownload(part: string): Promise<void> {
  await Promise.all([part, `${part}.json`, `${part}.json.new`].map((file) => rm(file, { force: true })));
}
