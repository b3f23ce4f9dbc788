import { retryAfterMs } from '../calls/http-faults.ts';
import { ModelError } from './model-error.ts';

/** A failure while downloading; the download decides how to react. */
export class DownloadFault extends Error {
  override readonly name = 'DownloadFault';
  /** `broken`, `proxy`: retry. `busy`: retry later. `changed`: restart from the beginning. `refused`: next address. */
  readonly kind: 'broken' | 'proxy' | 'busy' | 'changed' | 'refused';
  /** Delay requested by the server. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: DownloadFault['kind'], message: string, retryAfterMs?: number, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Classifies a response without a file. */
export function faultOfStatus(status: number, retryAfter: string | undefined): DownloadFault {
  const says = `the server responded with ${status}`;
  if (status === 429 || status === 503) return new DownloadFault('busy', says, retryAfterMs(retryAfter));
  if (status >= 500 || status === 408) return new DownloadFault('broken', says);
  return new DownloadFault('refused', says);
}

/** Converts an error thrown while downloading to a `DownloadFault`; rethrows errors that are not network failures. */
export function asFault(thrown: unknown): DownloadFault {
  if (thrown instanceof DownloadFault) return thrown;
  if (thrown instanceof ModelError) throw thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const detail = 'The disk is full. Free some space, or point DRAMATIS_DATA_DIR at another disk.';
    throw new ModelError('model_disk_full', detail, thrown);
  }
  if (['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOENT'].includes(code)) throw thrown;
  // Node calls it "aborted", as if it had been intended.
  if (code === 'ECONNRESET') return new DownloadFault('broken', 'the connection was cut', undefined, thrown);
  const why = thrown instanceof Error && thrown.message !== '' ? thrown.message : code || String(thrown);
  return new DownloadFault('broken', why, undefined, thrown);
}
